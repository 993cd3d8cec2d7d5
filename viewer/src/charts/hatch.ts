// The hatched pattern of preempted times.

const hatches = new Map<string, CanvasPattern>();

export function hatch(context: CanvasRenderingContext2D, colour: string, back: string): CanvasPattern | string {
    const key = `${colour}/${back}`;
    let made = hatches.get(key);
    if (!made) {
        const tile = document.createElement('canvas');
        tile.width = tile.height = 6;
        const c = tile.getContext('2d')!;
        c.fillStyle = back;
        c.fillRect(0, 0, 6, 6);
        c.strokeStyle = colour;
        c.lineWidth = 2;
        c.beginPath();
        for (const shift of [-6, 0, 6]) {
            c.moveTo(shift, 6);
            c.lineTo(shift + 6, 0);
        }
        c.stroke();
        const pattern = context.createPattern(tile, 'repeat');
        if (!pattern) return colour;
        hatches.set(key, (made = pattern));
    }
    return made;
}
