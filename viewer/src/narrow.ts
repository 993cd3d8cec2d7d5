// The width of the window, for layouts that CSS alone cannot narrow. styles/narrow.css has the same limit.
import { computed, signal } from '@preact/signals';

const width = signal(window.innerWidth);
window.addEventListener('resize', () => (width.value = window.innerWidth));

export const isNarrow = computed(() => width.value <= 920);
// The largest width of a table's first column, so that numbers stay visible beside it.
export const nameWidth = computed(() => (isNarrow.value ? Math.max(130, Math.round(width.value * 0.4)) : Infinity));
