// The worker that unpacks containers beside the page (unpacker.ts).
import { unpack } from './unpack';

onmessage = async (event: MessageEvent<{ id: number; packed: string | ArrayBuffer }>) => {
    const { id, packed } = event.data;
    try {
        const buffer = await unpack(packed);
        postMessage({ id, buffer }, { transfer: [buffer] });
    } catch (error) {
        postMessage({ id, error: String(error) });
    }
};
