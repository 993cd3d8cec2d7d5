// Long work in slices: between them the page draws and answers.

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

export class Slices {
    private began = performance.now();
    private stopped = false;

    constructor(private readonly length = 12) {}

    // To be asked every few hundred steps.
    get due(): boolean {
        return performance.now() - this.began > this.length;
    }

    // Throws when the work is no longer wanted.
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
