import { useEffect, useRef } from 'preact/hooks';
import { keyHelp } from '../keys';
import { helping } from '../state';

export function Help() {
    const box = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        box.current?.showModal();
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
                <h2>Keys</h2>
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
                        Words that must all occur in the name. <code>module:libc</code> and <code>file:main.c</code>{' '}
                        look there, <code>/^sqlite3Vdbe/</code> is a pattern. In tables, <code>calls&gt;1000</code> or{' '}
                        <code>elapsed_exclusive&gt;=1.5ms</code> or <code>application_inclusive&gt;5%</code> leave rows
                        that meet it; trees and graphs mark what is found.
                    </p>
                    <h3>Values</h3>
                    <p>
                        <b>Elapsed</b>: all time. <b>Application</b>: without the intervals in which the operating
                        system intervened. <b>CPU</b>: less blocked and preempted. <b>Inclusive</b>: with what it calls;{' '}
                        <b>exclusive</b>: without. What mostly waits is grey.
                    </p>
                </section>
            </div>
        </dialog>
    );
}
