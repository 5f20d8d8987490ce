// conformance: out=1024 global=256 local=64
// A list in private memory, linked by pointers, reversed.
typedef struct Node { int value; struct Node* next; } Node;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    Node nodes[8];
    for (int i = 0; i < 8; i++) {
        nodes[i].value = (in + 256)[(g + 3 * i) & 255];
        nodes[i].next = i < 7 ? &nodes[i + 1] : 0;
    }
    Node *head = &nodes[0], *done = 0;
    while (head) {
        Node* next = head->next;
        head->next = done;
        done = head;
        head = next;
    }
    int r = 0;
    for (Node* n = done; n; n = n->next)
        r = r * 7 + n->value & 0xFFFFFF;
    ((__global int*)out)[g] = r;
}
