/* Counts and locates occurrences of a pattern in a text.
 *
 * Every work-item looks at one start position. A question mark in the pattern matches any character; letters may be
 * compared without regard to case. Fixture for: short-circuit decisions in an if and in a loop condition, a helper that is
 * called twice in one expression, early return, break, an atomic counter.
 */

uchar fold_case(uchar c)
{
    if (c >= 'A' && c <= 'Z')
        return c + ('a' - 'A');
    return c;
}

__kernel void string_search(__global const uchar *text, uint text_len, __constant uchar *pattern, uint pattern_len,
                            int ignore_case, __global uchar *hit, __global uint *hits)
{
    uint start = get_global_id(0);
    if (start >= text_len)
        return;

    hit[start] = 0;
    if (pattern_len == 0 || start + pattern_len > text_len)
        return;

    uint k = 0;
    while (k < pattern_len && text[start + k] != '\n') {
        uchar p = pattern[k];
        uchar t = text[start + k];
        if (p != '?') {
            if (ignore_case ? fold_case(p) != fold_case(t) : p != t)
                break;
        }
        k++;
    }

    if (k == pattern_len) {
        hit[start] = 1;
        atomic_inc(hits);
    }
}
