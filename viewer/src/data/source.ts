// Where the sessions come from: out of the page itself, or from the program that serves it live.
import { type Container, readContainer } from './container';
import { unpackAside } from './unpacker';

export interface Source {
    sessions: number;
    live: number; // milliseconds between two fetches; zero: it is not live
    session(side: number): Promise<Container>;
    block(side: number, number: number): Promise<Container>;
}

const kind = 'script[type="application/x-dwell"]';

async function take(element: Element): Promise<Container> {
    return readContainer(await unpackAside(element.textContent ?? ''));
}

function embedded(): Source {
    const all = [...document.querySelectorAll(kind)];
    const sessions = all.filter((e) => e.getAttribute('data-part') === 'session');
    const blocks = new Map<string, Element>();
    for (const e of all)
        if (e.getAttribute('data-part') === 'block')
            blocks.set(`${e.getAttribute('data-session')}/${e.getAttribute('data-block')}`, e);
    return {
        sessions: sessions.length,
        live: 0,
        session: (side) => take(sessions[side]!),
        block(side, number) {
            const element = blocks.get(`${side}/${number}`);
            return element ? take(element) : Promise.reject(new Error(`block ${number} of the timeline is missing`));
        },
    };
}

function served(interval: number): Source {
    const token = new URLSearchParams(location.search).get('token') ?? '';
    const get = async (path: string) => {
        const answer = await fetch(`${path}?token=${encodeURIComponent(token)}`, { cache: 'no-store' });
        if (!answer.ok) throw new Error(`dwell answers ${answer.status} ${answer.statusText}`);
        return readContainer(await unpackAside(await answer.arrayBuffer()));
    };
    return { sessions: 1, live: interval, session: () => get('session'), block: (_, number) => get(`block/${number}`) };
}

export function findSource(): Source {
    const live = document.querySelector(`${kind}[data-part="live"]`);
    return live ? served(Number(live.getAttribute('data-interval')) || 1000) : embedded();
}
