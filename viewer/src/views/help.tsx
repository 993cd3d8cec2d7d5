// The dialog that lists the keys and explains search and values.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { keyHelp } from '../keys';
import { helping, model } from '../state';
import { hasTiming } from '../data/timing';
import { ColourMeanings, TimingMeanings, ValueMeanings } from './meanings';

export function Help() {
    const box = useRef<HTMLDialogElement>(null);
    useLayoutEffect(() => {
        const before = document.activeElement as HTMLElement | null;
        const dialog = box.current!;
        dialog.showModal();
        return () => {
            dialog.close(); // what is behind an open dialog cannot have the focus
            before?.focus({ preventScroll: true });
        };
    }, []);
    return (
        <dialog
            class="help"
            ref={box}
            aria-label="Help"
            onClose={() => (helping.value = false)}
            onClick={(e) => e.target === e.currentTarget && e.currentTarget.close()}
        >
            <div class="help-head">
                <h2>Keys, values, colours</h2>
                <button onClick={() => box.current?.close()}>Close</button>
            </div>
            <div class="help-keys">
                {keyHelp.map((group) => (
                    <section key={group.title}>
                        <h3>{group.title}</h3>
                        <dl>
                            {group.keys.map(([key, what]) => (
                                <div key={key}>
                                    <dt>{key}</dt>
                                    <dd>{what}</dd>
                                </div>
                            ))}
                        </dl>
                    </section>
                ))}
                <section>
                    <h3>Search</h3>
                    <p>
                        All words must occur in the name. <code>module:libc</code> and <code>file:main.c</code> search
                        modules and files, <code>/^sqlite3Vdbe/</code> is a regular expression. Tables accept
                        conditions, too: <code>calls&gt;1000</code>, <code>elapsed_exclusive&gt;=1.5ms</code>,{' '}
                        <code>application_inclusive&gt;5%</code>. Tables show only matching rows; trees and graphs
                        highlight matches.
                    </p>
                </section>
            </div>
            <section>
                <h3>What the values mean</h3>
                <p>
                    Inclusive values contain the callees, exclusive ones do not. A session's times are sums over its
                    threads, so two threads that run side by side for a second make two seconds.
                </p>
                <ValueMeanings m={model.value!} />
                {hasTiming(model.value!) && (
                    <>
                        <h3>How times are known</h3>
                        <TimingMeanings />
                    </>
                )}
                <h3>What the colours mean</h3>
                <ColourMeanings />
            </section>
        </dialog>
    );
}
