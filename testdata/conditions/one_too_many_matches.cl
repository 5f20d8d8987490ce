// The check lets one work-item too many in. Whether it writes depends on other arguments, too, but they are not to blame: no
// condition on them may excuse it.
// expect: memory-fault
kernel void find(global const char *text, global const char *word, global char *found, uint length, int word_length,
                 int needed, int start) {
    const size_t i = get_global_id(0);
    if (i > length)
        return;
    int same = 0;
    for (int j = 0; j < word_length; j++)
        same += text[start + i + j] == word[j];
    found[i] = same >= needed;
}
