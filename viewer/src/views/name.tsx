// A name from the recorded program on one line, with the match of the search marked.
import { shortened, visible } from '../format';
import { search } from '../state';

// `whole` is the name in full, if the text is a part of it.
export function Name({ text, whole = text }: { text: string; whole?: string }) {
    const shown = shortened(text);
    const word = search.value.trim().toLowerCase();
    const at = word && !word.includes(' ') ? shown.toLowerCase().indexOf(word) : -1;
    const title = whole.length > 60 || whole !== text ? visible(whole.slice(0, 2000)) : undefined;
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
