// A name from the recorded program on one line, with the match of the search marked.
import { shortened, visible } from '../format';
import { search } from '../state';

export function Name({ text }: { text: string }) {
    const shown = shortened(text);
    const word = search.value.trim().toLowerCase();
    const at = word && !word.includes(' ') ? shown.toLowerCase().indexOf(word) : -1;
    const title = text.length > 60 ? visible(text.slice(0, 2000)) : undefined;
    if (at < 0)
        return (
            <span class="name" title={title}>
                <bdi>{shown}</bdi>
            </span>
        );
    return (
        <span class="name" title={title}>
            <bdi>
                {shown.slice(0, at)}
                <mark>{shown.slice(at, at + word.length)}</mark>
                {shown.slice(at + word.length)}
            </bdi>
        </span>
    );
}
