// Lets long work yield to the browser every few milliseconds, so that the page stays responsive.

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

export class Yielder {
    private began = performance.now();
    private stopped = false;

    constructor(private readonly length = 12) {}

    // True when it is time to yield. Work checks this every few hundred steps.
    get due(): boolean {
        return performance.now() - this.began > this.length;
    }

    // Yields. Throws Stopped if the work is no longer needed.
    async pause(): Promise<void> {
        await new Promise<void>((resolve) => {
            waiting.push(resolve);
            channel.port2.postMessage(0);
        });
        if (this.stopped) throw new Stopped();
        this.began = performance.now();
    }

    stop(): void {
        this.stopped = true;
    }
}

export class Stopped extends Error {}
