// The types of a session's header (docs/view-format.md).

export interface FunctionFacts {
    name: string;
    shown?: string | null; // what text reports show of it, if that is shorter
    module: number;
    file: string | null;
    line: number;
    address: string | null; // null if an imported report has none
    waits: boolean; // known by its name, in imported reports
}

export interface ModuleFacts {
    name: string;
    path: string;
    build_id?: string | null;
}

export interface ProcessFacts {
    id: number;
    name: string;
    // The cost of its probes in 1/256 ticks; null if it was not subtracted.
    probes?: { in_callee: number; in_caller: number; first_callee: number } | null;
}

export interface ThreadFacts {
    id: number;
    process: number;
    name: string;
    title?: string | null; // of threads whose names are equal
    os_source?: string;
}

export interface Level {
    stretch: number;
    resolution: number;
    blocks: Record<string, number>;
}

export interface TimelineFacts {
    start: number;
    end: number;
    lanes: { thread: number; depth: number; start?: number }[];
    bin: number; // width of a bin of the table activity, in ticks
    heat?: { cell: number; cells: number } | null; // ticks of a cell of the table heat; cells of a column
    levels: Level[];
    complete: boolean;
}

// A kind of value that rows have (docs/view-format.md).
export interface ValueFacts {
    key: string;
    title: string;
    kind: 'time' | 'count' | 'percent';
    meanings: string[]; // of the inclusive and the exclusive form, or of the only form
    known: boolean;
    shown: boolean;
    share_shown: boolean;
    completed: boolean; // describes single completed calls
    off_cpu: boolean; // time in which the thread did not run
    of_probes: boolean; // time of the probes, not of the program
    whole?: string; // a derived value is the whole minus its parts, or the part in percent of the whole
    parts?: string[];
}

export interface SessionFacts {
    dwell: string;
    title: string;
    recorded: string;
    command?: string;
    duration_ticks: number;
    ticks_per_second: number;
    application: boolean;
    off_cpu: boolean;
    overhead: boolean;
    samples: boolean;
    imported: boolean;
    sample_period: number; // nanoseconds
    sample_cost: number; // zero: it is not subtracted
    timing: boolean; // some times may be estimated or unknown (data/timing.ts)
    slice: string | null;
    complete: boolean;
    mode: string;
    remarks: string[];
    losses?: number; // so many remarks are about lost data
    answer?: string | null; // the sentence that a report opens with
    recording_waits?: [number, number, number, number][]; // function, its caller or -1, ticks, number of waits
    run_ticks?: number; // the length of the run; 0 if it is unknown
    overhead_reached?: string | null; // the overhead that was asked for and reached, if there was a budget
    application_bounds?: string | null; // how far application time is below CPU time, if it is far
    session: Record<string, number | null>;
    values: ValueFacts[];
    modules: ModuleFacts[];
    functions: FunctionFacts[];
    processes: ProcessFacts[];
    threads: ThreadFacts[];
    timeline?: TimelineFacts | null;
    calls?: { block: number; periods: number; rounded: boolean; resolution: number } | null;
    sources?: { block: number } | null;
    lines?: { block: number } | null;
    waits?: { block: number } | null;
    recorded_values?: { block: number | null; file: string; functions: number[] } | null;
    why?: { block: number | null; file: string; functions: number[] } | null;
    parts?: { block: number; borders: number[] } | null;
    mark_names?: string[];
    event_names?: string[];
    activity_names?: string[];
    [fact: string]: unknown;
}

const absent: SessionFacts = {
    dwell: '',
    title: '',
    recorded: '',
    duration_ticks: 0,
    ticks_per_second: 1e9,
    application: true,
    off_cpu: true,
    overhead: false,
    samples: false,
    imported: false,
    sample_period: 0,
    sample_cost: 0,
    timing: false,
    slice: null,
    complete: true,
    mode: 'trace',
    remarks: [],
    session: {},
    values: [],
    modules: [],
    functions: [],
    processes: [],
    threads: [],
};

export function factsOf(header: Record<string, unknown>): SessionFacts {
    return { ...absent, ...header };
}
