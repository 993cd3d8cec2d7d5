// Unpacks containers in a worker, so that the page stays responsive.
import source from 'worker:src/data/worker.ts';
import { unpack } from './unpack';

interface Waiting {
    resolve(buffer: ArrayBuffer): void;
    reject(error: Error): void;
}

const waiting = new Map<number, Waiting>();
let worker: Worker | null | undefined;
let nextId = 0;

function startWorker(): Worker | null {
    try {
        const made = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
        made.onmessage = (event: MessageEvent<{ id: number; buffer?: ArrayBuffer; error?: string }>) => {
            const { id, buffer, error } = event.data;
            const one = waiting.get(id);
            waiting.delete(id);
            if (buffer) one?.resolve(buffer);
            else one?.reject(new Error(error));
        };
        made.onerror = () => {
            for (const one of waiting.values()) one.reject(new Error('the recording could not be unpacked'));
            waiting.clear();
        };
        return made;
    } catch {
        return null;
    }
}

export function unpackAside(packed: string | ArrayBuffer): Promise<ArrayBuffer> {
    if (worker === undefined) worker = startWorker();
    if (!worker) return unpack(packed);
    const id = nextId++;
    return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker!.postMessage({ id, packed }, typeof packed === 'string' ? [] : [packed]);
    });
}
