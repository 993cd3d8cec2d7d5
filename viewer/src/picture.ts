// Saves what a canvas shows as a PNG file: the whole graph, not only the part in the window.
import { palette } from './colours';
import { type Drawing, font } from './charts/canvas';
import { notify } from './state';

const captionHeight = 22;
const maxPixels = 32e6;
const maxSide = 16000;

export function download(blob: Blob, name: string): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The picture has twice the resolution of the page, unless it would be too large.
export function savePicture(
    name: string,
    caption: string,
    width: number,
    height: number,
    draw: (d: Drawing) => void,
): void {
    const whole = height + captionHeight;
    const scale = Math.min(2, Math.sqrt(maxPixels / (width * whole)), maxSide / whole, maxSide / width);
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.floor(width * scale));
    canvas.height = Math.max(1, Math.floor(whole * scale));
    const context = canvas.getContext('2d', { alpha: false })!;
    context.scale(scale, scale);
    context.fillStyle = palette().back;
    context.fillRect(0, 0, width, whole);
    context.fillStyle = palette().ink;
    context.font = font;
    context.textBaseline = 'middle';
    context.fillText(caption, 6, captionHeight / 2);
    context.translate(0, captionHeight);
    draw({ context, width, height });
    canvas.toBlob((blob) => {
        if (!blob) return notify('The picture is too large to be saved');
        download(blob, name);
        notify('Picture saved');
    }, 'image/png');
}
