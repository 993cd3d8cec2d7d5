// What can be measured, and how it is called.

export type Measure = 'elapsed' | 'application' | 'cpu' | 'blocked' | 'preempted' | 'page_faults' | 'overhead';
export type Kind = 'time' | 'count';

export const measures: { key: Measure; title: string; meaning: string }[] = [
    { key: 'elapsed', title: 'Elapsed', meaning: 'all time between enter and exit' },
    { key: 'application', title: 'Application', meaning: 'elapsed time without the intervals in which the OS intervened' },
    { key: 'cpu', title: 'CPU', meaning: 'elapsed time less blocked and preempted' },
    { key: 'blocked', title: 'Blocked', meaning: 'off the CPU, waiting' },
    { key: 'preempted', title: 'Preempted', meaning: 'off the CPU because another was to run' },
    { key: 'page_faults', title: 'Page faults', meaning: 'a number of them' },
    { key: 'overhead', title: 'Overhead', meaning: 'what the probes took, which is left out of the other times' },
];

// What the views can be about: overhead is not the program's, and has its columns only.
export const choices = measures.filter((m) => m.key !== 'overhead');

export const measureTitle = (key: Measure): string => measures.find((m) => m.key === key)!.title;

// Within a sentence.
export const measureName = (key: Measure): string => (key === 'cpu' ? 'CPU' : measureTitle(key).toLowerCase());

export type Extent = 'inclusive' | 'exclusive';
export type ColumnKey = `${Measure}_${Extent}` | 'calls' | 'min' | 'max';

export const kindOf = (key: ColumnKey): Kind => (key === 'calls' || key.startsWith('page_faults') ? 'count' : 'time');
