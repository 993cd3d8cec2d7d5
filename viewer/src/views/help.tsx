// The dialog that lists the keys and explains search and values.
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
                        All words must occur in the name. <code>module:libc</code> and <code>file:main.c</code> search
                        modules and files, <code>/^sqlite3Vdbe/</code> is a regular expression. Tables accept
                        conditions, too: <code>calls&gt;1000</code>, <code>elapsed_exclusive&gt;=1.5ms</code>,{' '}
                        <code>application_inclusive&gt;5%</code>. Tables show only matching rows; trees and graphs
                        highlight matches.
                    </p>
                    <h3>Values</h3>
                    <p>
                        <b>Elapsed</b>: all time between enter and exit. <b>Application</b>: elapsed time without the
                        intervals in which the operating system intervened. <b>CPU</b>: elapsed time minus blocked and
                        preempted time. <b>Inclusive</b>: with callees; <b>exclusive</b>: without them. Rows and frames
                        that mostly wait are grey.
                    </p>
                </section>
            </div>
        </dialog>
    );
}
