/* The tables of the usual x86-64 instructions. */
#include "levels/x86_quick.h"

enum {
    PLAIN = QUICK_KNOWN,
    PLAIN_BYTE = PLAIN | QUICK_BYTE,
    PLAIN_WORD = PLAIN | QUICK_WORD,
    READS = PLAIN | QUICK_MODRM,
    TO_REG = READS | QUICK_TO_REG,
    TO_RM = READS | QUICK_TO_RM,
    TO_HALF_REG = TO_REG | QUICK_HALVES,
    TO_HALF_RM = TO_RM | QUICK_HALVES,
    GROUP = TO_RM | QUICK_GROUP,
    JUMP = PLAIN_WORD | QUICK_JUMP,
    SHORT_JUMP = PLAIN_BYTE | QUICK_JUMP,
};

/* Six forms of each arithmetic instruction. */
#define ARITHMETIC(op)                                                                                                 \
    [(op)] = TO_HALF_RM, [(op) + 1] = TO_RM, [(op) + 2] = TO_HALF_REG, [(op) + 3] = TO_REG,                            \
    [(op) + 4] = PLAIN_BYTE | QUICK_TO_RAX, [(op) + 5] = PLAIN_WORD | QUICK_TO_RAX

const uint16_t x86_quick_one_byte[256] = {
    ARITHMETIC(0x00),
    ARITHMETIC(0x08),
    ARITHMETIC(0x10),
    ARITHMETIC(0x18),
    ARITHMETIC(0x20),
    ARITHMETIC(0x28),
    ARITHMETIC(0x30),
    [0x38 ... 0x3b] = READS,
    [0x3c] = PLAIN_BYTE,
    [0x3d] = PLAIN_WORD,
    [0x50 ... 0x57] = PLAIN,
    [0x58 ... 0x5f] = PLAIN | QUICK_TO_OP,
    [0x63] = TO_REG,
    [0x68] = PLAIN_WORD,
    [0x69] = TO_REG | QUICK_WORD,
    [0x6a] = PLAIN_BYTE,
    [0x6b] = TO_REG | QUICK_BYTE,
    [0x70 ... 0x7f] = SHORT_JUMP,
    [0x80] = GROUP | QUICK_BYTE | QUICK_HALVES,
    [0x81] = GROUP | QUICK_WORD,
    [0x83] = GROUP | QUICK_BYTE,
    [0x84 ... 0x85] = READS,
    [0x88] = TO_HALF_RM,
    [0x89] = TO_RM | QUICK_MOVE,
    [0x8a] = TO_HALF_REG,
    [0x8b] = TO_REG | QUICK_MOVE,
    [0x8d] = TO_REG | QUICK_MOVE,
    [0xa8] = PLAIN_BYTE,
    [0xa9] = PLAIN_WORD,
    [0xb8 ... 0xbf] = JUMP | QUICK_TO_OP,
    [0xc0] = TO_HALF_RM | QUICK_BYTE,
    [0xc1] = TO_RM | QUICK_BYTE,
    [0xc3] = PLAIN | QUICK_JUMP,
    [0xc6] = READS | QUICK_BYTE | QUICK_STORE,
    [0xc7] = READS | QUICK_WORD | QUICK_STORE,
    [0xd0] = TO_HALF_RM,
    [0xd1] = TO_RM,
    [0xd2] = TO_HALF_RM,
    [0xd3] = TO_RM,
    [0xe8 ... 0xe9] = JUMP,
    [0xeb] = SHORT_JUMP,
};

/* Behind 0f. */
const uint16_t x86_quick_two_bytes[256] = {
    [0x10 ... 0x11] = READS,  [0x14 ... 0x15] = READS,      [0x1e ... 0x1f] = READS,
    [0x28 ... 0x29] = READS,  [0x2e ... 0x2f] = READS,      [0x40 ... 0x4f] = TO_REG,
    [0x51] = READS,           [0x54 ... 0x6f] = READS,      [0x7f] = READS,
    [0x80 ... 0x8f] = JUMP,   [0x90 ... 0x9f] = TO_HALF_RM, [0xaf] = TO_REG,
    [0xb6 ... 0xb7] = TO_REG, [0xbe ... 0xbf] = TO_REG,     [0xd6] = READS,
    [0xef] = READS,
};

/* A base of four needs another byte, and one of five without a displacement is none. */
#define TAIL(mod, bytes)                                                                                               \
    [(mod)...(mod) + 3] = (bytes), [(mod) + 4] = (bytes) + 1, [(mod) + 5] = (bytes) + ((mod) < 0x40 ? 4 : 0),          \
                     [(mod) + 6 ...(mod) + 7] = (bytes)
#define TAILS(mod, bytes)                                                                                              \
    TAIL(mod, bytes), TAIL((mod) + 8, bytes), TAIL((mod) + 16, bytes), TAIL((mod) + 24, bytes),                        \
        TAIL((mod) + 32, bytes), TAIL((mod) + 40, bytes), TAIL((mod) + 48, bytes), TAIL((mod) + 56, bytes)

const uint8_t x86_quick_tails[256] = { TAILS(0x00, 0), TAILS(0x40, 1), TAILS(0x80, 4) };

bool x86_decode(const uint8_t *code, size_t room, uint64_t address, struct x86_insn *insn)
{
    return (room >= X86_MAX_LENGTH && x86_decode_quickly(code, address, insn)) ||
           x86_decode_slowly(code, room, address, insn);
}
