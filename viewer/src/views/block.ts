// Loads a block of a session once, for views that show one.
import { useEffect, useState } from 'preact/hooks';
import type { Container } from '../data/container';
import { source } from '../state';

// Null until the block has been read. `key` changes when the block does: then the one before is not returned any more.
export function useBlock(side: number, number: number | undefined, key: unknown): Container | string | null {
    const [read, setRead] = useState<{ key: unknown; block: Container | string } | null>(null);
    useEffect(() => {
        let wanted = true;
        setRead(null);
        if (number === undefined) return;
        source
            .value!.block(side, number)
            .then((block) => wanted && setRead({ key, block }))
            .catch((error: Error) => wanted && setRead({ key, block: error.message }));
        return () => {
            wanted = false;
        };
    }, [side, number, key]);
    return read && read.key === key ? read.block : null;
}
