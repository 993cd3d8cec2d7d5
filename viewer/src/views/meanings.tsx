// Explanations in words, for the help and About: what each value means, and what the colours mean.
import { change, heat, palette } from '../colours';
import type { Model } from '../data/model';
import { timingMeanings } from '../data/timing';

// The values with their meanings, as the session describes them.
export function ValueMeanings({ m }: { m: Model }) {
    const values = m.facts[0]!.values;
    return (
        <dl class="meanings">
            {values.map((v) => (
                <div key={v.key}>
                    <dt>{v.title}</dt>
                    <dd>
                        {v.meanings.length === 2 ? (
                            <>
                                inclusive: {v.meanings[0]}; exclusive: {v.meanings[1]}
                            </>
                        ) : (
                            v.meanings[0]
                        )}
                        {!v.known && <em> (unknown in this recording)</em>}
                    </dd>
                </div>
            ))}
        </dl>
    );
}

// How times are known, in sessions in which some are not measured.
export function TimingMeanings() {
    return (
        <dl class="meanings">
            {Object.entries(timingMeanings).map(([timing, meaning]) => (
                <div key={timing}>
                    <dt>{timing}</dt>
                    <dd>{meaning}</dd>
                </div>
            ))}
        </dl>
    );
}

const swatch = (background: string) => <i style={{ background }} />;

export function ColourMeanings() {
    const colours = palette();
    const lines = [
        [
            <>{[0.01, 0.1, 0.45, 1].map((share) => swatch(heat(share)))}</>,
            'from pale to dark: the exclusive time by the chosen measure, from little to that of the hottest row',
        ],
        [swatch(colours.busy), 'orange, at the top of a thread of the timeline: the share of time on the CPU'],
        [swatch(colours.wait), 'grey: blocked. A call or frame is grey if it waits for more than half of its own time'],
        [<i class="swatch-preempted" />, 'hatched: preempted. Another thread had the CPU'],
        [<i class="swatch-merged" />, 'light grey on the timeline: calls too short to be drawn one by one; zoom in'],
        [swatch(colours.mark), 'yellow: matches of the search; all others are dimmed'],
        [
            <>{[-1, -0.2, 0, 0.2, 1].map((by) => swatch(change(by)))}</>,
            'with two recordings: blue is less time than in A, orange is more',
        ],
        [<i class="swatch-hot" />, 'an orange bar at the left of a row of the call tree: the row is on the hot path'],
    ] as const;
    return (
        <ul class="colour-meanings">
            {lines.map(([sample, text]) => (
                <li key={text}>
                    <span class="legend">{sample}</span> {text}
                </li>
            ))}
        </ul>
    );
}
