// The colours of tables, graphs and timeline. They differ in lightness, too, so that colour-blind readers can tell them
// apart: heat goes from pale to brown, waiting is grey, changes go from blue (less) to orange (more).
import { color as parse, lab } from 'd3-color';
import { scaleLinear } from 'd3-scale';
import { dark } from './state';

const system = matchMedia('(prefers-color-scheme: dark)');
export const isDark = (): boolean => dark.value ?? system.matches;

const heatLight = scaleLinear<string>()
    .domain([0, 0.1, 0.45, 1])
    .range(['#fdf1d8', '#fcd794', '#f3953a', '#a8430b'])
    .clamp(true);
const heatDark = scaleLinear<string>()
    .domain([0, 0.1, 0.45, 1])
    .range(['#3d382f', '#5e4a2a', '#b06a1e', '#ffb454'])
    .clamp(true);
const changeLight = scaleLinear<string>()
    .domain([-1, -0.2, 0, 0.2, 1])
    .range(['#1b62a8', '#9ac6e8', '#ececec', '#f8c39a', '#b2400e'])
    .clamp(true);
const changeDark = scaleLinear<string>()
    .domain([-1, -0.2, 0, 0.2, 1])
    .range(['#6db3f2', '#2d5b85', '#3a3d43', '#7d4a2c', '#ff9052'])
    .clamp(true);
// The palette of Okabe and Ito, made paler.
const kinds = ['#f2c879', '#8fc7e8', '#7fcbb3', '#f3ea8f', '#9fb8e0', '#eda27a', '#dfabc9', '#c9c2b4', '#b7d69a'];
const kindsDark = ['#8a6420', '#2f6a8f', '#1d6e59', '#7a7222', '#3f5790', '#8f4a20', '#7d4a68', '#5d574b', '#4f6e35'];

export interface Palette {
    back: string;
    ink: string;
    faint: string;
    line: string;
    raised: string;
    accent: string;
    mark: string;
    wait: string;
    preempted: string;
    merged: string;
    busy: string; // on the CPU
    arrow: string; // from a waker to the thread that waited
    arrowChosen: string;
    critical: string; // the critical path
}

const light: Palette = {
    back: '#ffffff',
    ink: '#1b1f24',
    faint: '#646b76',
    line: '#d9dce1',
    raised: '#f4f5f7',
    accent: '#1f5fbf',
    mark: '#ffe27a',
    wait: '#c9cdd2',
    preempted: '#8d949e',
    merged: '#e3e5e9',
    busy: '#f0a04b',
    arrow: '#1f5fbf',
    arrowChosen: '#0b2f6b',
    critical: '#a3158a',
};
const night: Palette = {
    back: '#16181c',
    ink: '#e4e7eb',
    faint: '#9aa3af',
    line: '#363b44',
    raised: '#1f2228',
    accent: '#7fb2ff',
    mark: '#d9b430',
    wait: '#565b64',
    preempted: '#8b929c',
    merged: '#31353c',
    busy: '#c07a26',
    arrow: '#7fb2ff',
    arrowChosen: '#d6e6ff',
    critical: '#f27fd9',
};
export const palette = (): Palette => (isDark() ? night : light);

// `share` is the value divided by the hottest row's, 0 to 1.
export const heat = (share: number): string => (isDark() ? heatDark : heatLight)(share);
export const change = (by: number): string => (isDark() ? changeDark : changeLight)(by);
export const ofKind = (number: number): string => (isDark() ? kindsDark : kinds)[number % kinds.length]!;

const inks = new Map<string, string>();
// The text colour, dark or light, that is readable on a background.
export function inkOn(background: string): string {
    let ink = inks.get(background);
    if (!ink) {
        ink = lab(parse(background)!).l > 55 ? '#1b1f24' : '#f3f5f7';
        if (inks.size > 5000) inks.clear();
        inks.set(background, ink);
    }
    return ink;
}
