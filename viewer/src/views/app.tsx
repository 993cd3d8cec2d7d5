// The frame of the page: header, tabs, remarks, the chosen view and the details.
import { useEffect } from 'preact/hooks';
import { lengthOf, shortened, plural } from '../format';
import { isDark as darkNow } from '../colours';
import { copyLink, focusView } from '../keys';
import { isNarrow } from '../narrow';
import {
    type View,
    dark,
    details,
    failure,
    helping,
    lost,
    model,
    notice,
    path,
    paused,
    progress,
    source,
    subject,
    view,
} from '../state';
import { About } from './about';
import { Callers } from './callers';
import { Critical } from './critical';
import { Details } from './details';
import { Entities } from './entities';
import { Flame, InvertedGraph } from './flames';
import { Help } from './help';
import { HeatMap } from './heat_map';
import { HistogramView } from './histogram';
import { MeasureChoice } from './measure_choice';
import { PartBar } from './part';
import { SearchBox } from './search_box';
import { SourceView } from './source';
import { Summary } from './summary';
import { Tabs } from './tabs';
import { Timeline } from './timeline';
import { TransformBar } from './transforms';
import { Tree } from './tree';
import { Waits } from './waits';
import { RecordedView } from './recorded';
import { WhyView } from './why';

function Remarks() {
    const m = model.value!;
    const remarks = m.facts.flatMap((f, side) =>
        f.remarks.map((r) => (m.sides === 2 ? `${side ? 'B' : 'A'}: ${r}` : r)),
    );
    if (m.facts.some((f) => !f.application) && !remarks.some((r) => r.includes('application')))
        remarks.push('application times are unavailable: the recording has no OS events');
    if (remarks.length === 0) return null;
    return (
        <details class="remarks" open={!isNarrow.peek() && m.facts.some((f) => (f.losses ?? 0) > 0)}>
            <summary>{plural(remarks.length, 'remark')}</summary>
            <ul>
                {remarks.map((r) => (
                    <li>{shortened(r, 2000)}</li>
                ))}
            </ul>
        </details>
    );
}

function Top() {
    const m = model.value!;
    const isDark = darkNow();
    return (
        <header class="top">
            <strong class="brand">dwell</strong>
            <Live />
            <h1 class="titles">
                {m.facts.map((f, side) => (
                    <span class="title" title={f.title}>
                        {m.sides === 2 && <b class={side ? 'side-b' : 'side-a'}>{side ? 'B ' : 'A '}</b>}
                        {shortened(f.title, 300)}
                        {lengthOf(f) && <small> {lengthOf(f)}</small>}
                    </span>
                ))}
            </h1>
            <MeasureChoice m={m} />
            <SearchBox />
            <button title="Details (i)" aria-pressed={details.value} onClick={() => (details.value = !details.value)}>
                Details
            </button>
            <button title="Copy a link to what is shown (y)" onClick={() => void copyLink()}>
                Link
            </button>
            <button title="Light or dark (t)" aria-label="Light or dark" onClick={() => (dark.value = !isDark)}>
                {isDark ? '☀' : '☾'}
            </button>
            <button title="Help (?)" aria-label="Help" onClick={() => (helping.value = true)}>
                ?
            </button>
        </header>
    );
}

function Live() {
    if (!source.value?.live) return null;
    const ended = model.value!.facts[0]!.complete;
    const text = ended ? 'ended' : lost.value ? 'no answer' : paused.value ? 'paused' : 'live';
    return (
        <button
            class={`live ${text === 'live' ? 'is-live' : ''}`}
            disabled={ended}
            title={lost.value || 'Pause or resume updates'}
            onClick={() => (paused.value = !paused.value)}
        >
            {text}
        </button>
    );
}

function Shown({ which }: { which: View }) {
    switch (which) {
        case 'summary':
            return <Summary />;
        case 'functions':
        case 'modules':
        case 'threads':
        case 'processes':
            return <Entities key={which} table={which} />;
        case 'callers':
            return <Callers />;
        case 'flame':
            return <Flame />;
        case 'inverted':
            return <InvertedGraph />;
        case 'timeline':
            return <Timeline />;
        case 'waits':
            return <Waits />;
        case 'heat':
            return <HeatMap />;
        case 'critical':
            return <Critical />;
        case 'histogram':
            return <HistogramView />;
        case 'why':
            return <WhyView />;
        case 'recorded':
            return <RecordedView />;
        case 'source':
            return <SourceView />;
        case 'tree':
            return <Tree />;
        case 'about':
            return <About />;
    }
}

const withDetails = new Set<View>([
    'tree',
    'flame',
    'inverted',
    'callers',
    'functions',
    'timeline',
    'histogram',
    'source',
]);

export function App() {
    useEffect(() => {
        if (model.value) document.title = `${model.value.facts[0]!.title} – dwell`;
    }, [model.value]);
    useEffect(() => {
        if (document.activeElement?.matches('.search') !== true) focusView();
    }, [view.value, model.value === null]);
    if (failure.value) return <p class="wait failure">{failure.value}</p>;
    if (!model.value) return <p class="wait">{progress.value}</p>;
    return (
        <>
            <Top />
            <Tabs />
            <PartBar />
            <TransformBar />
            <Remarks />
            <main class="view">
                <Shown which={view.value} />
                {details.value && withDetails.has(view.value) && (path.value >= 0 || subject.value >= 0) && <Details />}
            </main>
            {helping.value && <Help />}
            {notice.value && (
                <p class="notice" role="status">
                    {notice.value}
                </p>
            )}
        </>
    );
}
