// Decodes base64 and gzip, in the worker or, if there is none, in the page.

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
    const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
    if (native) return native(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

export async function unpack(packed: string | ArrayBuffer): Promise<ArrayBuffer> {
    const bytes = typeof packed === 'string' ? fromBase64(packed.trim()) : new Uint8Array(packed);
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.buffer;
    // gzip's last four bytes hold the unpacked length, so that the buffer is allocated once.
    const size = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true);
    let room = new Uint8Array(size);
    let filled = 0;
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (filled + value.length > room.length) {
            const larger = new Uint8Array(Math.max(room.length * 2, filled + value.length));
            larger.set(room);
            room = larger;
        }
        room.set(value, filled);
        filled += value.length;
    }
    return filled === room.length ? room.buffer : room.slice(0, filled).buffer;
}
