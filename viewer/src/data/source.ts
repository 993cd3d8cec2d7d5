// Reads sessions and timeline blocks from the page itself or, live, from the dwell that serves it.
import { type Container, readContainer } from './container';
import { unpackAside } from './unpacker';

export interface Source {
    sessions: number;
    live: number; // milliseconds between two fetches; 0 if the session is not live
    // Returns null if there is nothing new.
    session(side: number): Promise<Container | null>;
    block(side: number, number: number): Promise<Container>;
}

const kind = 'script[type="application/x-dwell"]';

async function readElement(element: Element): Promise<Container> {
    return readContainer(await unpackAside(element.textContent));
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
        session: (side) => readElement(sessions[side]!),
        block(side, number) {
            const element = blocks.get(`${side}/${number}`);
            return element
                ? readElement(element)
                : Promise.reject(new Error(`block ${number} of the timeline is missing`));
        },
    };
}

// Each fetched session has a generation. Block numbers are valid within one generation only.
function served(interval: number): Source {
    const token = encodeURIComponent(new URLSearchParams(location.search).get('token') ?? '');
    let generation = '';
    const get = async (path: string) => {
        const answer = await fetch(`${path}`, { cache: 'no-store' });
        if (answer.status === 204 || answer.status === 202) return null;
        if (!answer.ok)
            throw new Error((await answer.text()).trim() || `dwell answered ${answer.status} ${answer.statusText}`);
        return answer;
    };
    const read = async (answer: Response) => readContainer(await unpackAside(await answer.arrayBuffer()));
    return {
        sessions: 1,
        live: interval,
        async session() {
            const answer = await get(`session?token=${token}${generation ? `&since=${generation}` : ''}`);
            if (!answer) return null;
            const container = await read(answer);
            generation = answer.headers.get('X-Dwell-Generation') ?? '';
            return container;
        },
        async block(_, number) {
            const answer = await get(`block/${number}?token=${token}${generation ? `&generation=${generation}` : ''}`);
            if (!answer) throw new Error('newer data is being read');
            return read(answer);
        },
    };
}

export function findSource(): Source {
    const live = document.querySelector(`${kind}[data-part="live"]`);
    return live ? served(Number(live.getAttribute('data-interval')) || 1000) : embedded();
}
