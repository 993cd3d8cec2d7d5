// Draws the heat map: columns of the run from left to right, and in each its cells from top to bottom.
import { heat, palette } from '../colours';
import type { ActivityKind } from '../data/activity';
import type { HeatCells } from '../data/heat_cells';
import { type Drawing, font } from './canvas';

const [leftEdge, topEdge, bottomEdge, gapFrom] = [80, 8, 26, 6];
const [mostColumnWidth, mostCellHeight] = [24, 12];

// Where the cells are, in pixels.
export interface HeatLayout {
    left: number;
    top: number;
    columnWidth: number;
    cellHeight: number;
}

export const layHeatMap = (cells: HeatCells, width: number, height: number): HeatLayout => ({
    left: leftEdge,
    top: topEdge,
    columnWidth: Math.min(mostColumnWidth, Math.max(1, (width - leftEdge - 8) / cells.columns)),
    cellHeight: Math.min(mostCellHeight, Math.max(2, (height - topEdge - bottomEdge) / cells.perColumn)),
});

// The cell at a point, or -1.
export function cellAt(cells: HeatCells, lay: HeatLayout, x: number, y: number): number {
    const column = Math.floor((x - lay.left) / lay.columnWidth);
    const row = Math.floor((y - lay.top) / lay.cellHeight);
    const cell = column * cells.perColumn + row;
    return column >= 0 && row >= 0 && row < cells.perColumn && cell < cells.count ? cell : -1;
}

function drawLabels(
    { context, width }: Drawing,
    cells: HeatCells,
    lay: HeatLayout,
    timeAt: (cell: number) => string,
): void {
    const bottom = lay.top + cells.perColumn * lay.cellHeight;
    context.fillStyle = palette().faint;
    context.font = font;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (let row = 0; row < cells.perColumn; row += 10)
        context.fillText(`+${timeAt(row)}`, lay.left - 6, lay.top + (row + 0.5) * lay.cellHeight);
    context.textAlign = 'left';
    let free = 0;
    for (let column = 0; column < cells.columns; column++) {
        const text = timeAt(column * cells.perColumn);
        const x = lay.left + column * lay.columnWidth;
        const end = x + context.measureText(text).width;
        if (x < free || end > width) continue;
        context.fillText(text, x, bottom + 12);
        free = end + 16;
    }
}

export function drawHeatMap(
    d: Drawing,
    cells: HeatCells,
    kind: ActivityKind,
    lay: HeatLayout,
    chosen: [number, number] | null,
    timeAt: (cell: number) => string,
): void {
    const { context } = d;
    const colours = palette();
    const most = cells.most[kind] || 1;
    const gap = lay.columnWidth > gapFrom ? 1 : 0;
    context.fillStyle = colours.back;
    context.fillRect(0, 0, d.width, d.height);
    for (let cell = 0; cell < cells.count; cell++) {
        const x = lay.left + Math.floor(cell / cells.perColumn) * lay.columnWidth;
        const y = lay.top + (cell % cells.perColumn) * lay.cellHeight;
        const value = cells.value(kind, cell);
        context.fillStyle = value > 0 ? heat(value / most) : colours.raised;
        context.fillRect(x, y, Math.max(1, lay.columnWidth - gap), lay.cellHeight);
        if (!chosen || cell < chosen[0] || cell > chosen[1]) continue;
        context.strokeStyle = colours.accent;
        context.strokeRect(x + 0.5, y + 0.5, Math.max(1, lay.columnWidth - gap) - 1, lay.cellHeight - 1);
    }
    drawLabels(d, cells, lay, timeAt);
}
