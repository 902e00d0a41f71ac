// Runs the compiled program of a regular expression over a text and counts each instruction that it looks at: the same
// text always takes the same steps, and a run ends where its budget does. Which engine of the library runs, and from which
// cache, depends on earlier texts, so that its work is known only afterwards. This is the simulation of
// https://swtch.com/~rsc/regexp/regexp2.html: all threads of a search go on together, one character at a time.

/** What is read of a program of re2js. An instruction is named by its index. */
export interface Program {
  inst: readonly Instruction[]
  start: number
}

interface Instruction {
  op: number
  /** Where it goes on. */
  out: number
  /** The other way of an alternative; the conditions of an assertion. */
  arg: number
  matchRune(rune: number): boolean
}

export interface StepBudget {
  /** What may still be done. Negative: it did not suffice. */
  steps: number
}

export interface Automaton {
  /** Whether any part of the text matches; undefined where the budget does not suffice. */
  run(text: string, budget: StepBudget): boolean | undefined
}

// Opcodes of re2js's class Inst. FAIL, which ends a thread, needs no case.
const [ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, MATCH, NOP, RUNE, RUNE_ANY_NOT_NL] = [1, 2, 3, 4, 6, 7, 8, 11]
// Conditions of assertions: the EMPTY_ constants of re2js.
const [BEGIN_LINE, END_LINE, BEGIN_TEXT, END_TEXT, WORD_BOUNDARY, NO_WORD_BOUNDARY] = [1, 2, 4, 8, 16, 32]

/** Stands for the place before the first character and behind the last. */
const NONE = -1
const NEWLINE = 10
const ASCII = 128
/** What assertions tell apart in a character: none, a newline, one of a word, any other. */
const KINDS = 4
/** Threads of a search that are kept in a table; that of a pattern has 100 KB at most. */
const MAX_KEPT_THREADS = 16
const MAX_TURN = 2 ** 30

/** The search that begins at a character. */
interface Start {
  isMatch: boolean
  /** Where the threads continue behind the character. */
  outs: Int32Array
  steps: number
}

export function createAutomaton({ inst, start }: Program): Automaton {
  const size = inst.length
  const [ops, outs, args] = [new Uint8Array(size), new Int32Array(size), new Int32Array(size)]
  for (const [index, { op, out, arg }] of inst.entries()) [ops[index], outs[index], args[index]] = [op, out, arg]
  const hasAssertions = ops.includes(EMPTY_WIDTH)

  // Instructions that were visited at the present character, and where the threads continue behind it. The threads of
  // the search that begins at this character may be there twice.
  const seenAt = new Int32Array(size)
  let turn = 0
  const stack = new Int32Array(size)
  let spare = new Int32Array(2 * size)
  let following = new Int32Array(2 * size)
  let count = 0
  let isMatch = false

  // Most characters of most texts begin nothing: that is one look into this table, by the kind of the character before.
  // null: it has too many threads to be kept.
  const starts = new Array<Start | null | undefined>(KINDS * ASCII)
  /** The last run that used it. Each run pays once for what it uses, whichever run has made it. */
  const paidIn = new Int32Array(KINDS * ASCII)
  let runs = 0

  function push(at: number, top: number): number {
    if (seenAt[at] === turn) return top
    seenAt[at] = turn
    stack[top] = at
    return top + 1
  }

  /** Follows a thread up to the instructions that take a character, and over this one. Returns the steps. */
  function follow(from: number, rune: number, conditions: number): number {
    let steps = 1
    for (let top = push(from, 0); top > 0; steps += 1) {
      top -= 1
      const at = stack[top] ?? 0
      const op = ops[at] ?? 0
      if (op >= RUNE && op <= RUNE_ANY_NOT_NL) {
        if (rune === NONE || inst[at]?.matchRune(rune) !== true) continue
        following[count] = outs[at] ?? 0
        count += 1
      } else if (op === ALT || op === ALT_MATCH) top = push(args[at] ?? 0, push(outs[at] ?? 0, top))
      else if (op === CAPTURE || op === NOP) top = push(outs[at] ?? 0, top)
      else if (op === MATCH) isMatch = true
      else if (op === EMPTY_WIDTH && ((args[at] ?? 0) & ~conditions) === 0) top = push(outs[at] ?? 0, top)
    }
    return steps
  }

  function followAll(rune: number, conditions: number): number {
    const [present, alive] = [following, count]
    following = spare
    spare = present
    count = 0
    let steps = 0
    for (let index = 0; index < alive; index += 1) steps += follow(present[index] ?? 0, rune, conditions)
    return steps
  }

  function makeStart(rune: number, conditions: number): Start | null {
    const before = { count, isMatch }
    isMatch = false
    turn += 1
    const steps = follow(start, rune, conditions)
    const made = { isMatch, outs: following.slice(before.count, count), steps }
    ;({ count, isMatch } = before)
    return made.outs.length > MAX_KEPT_THREADS ? null : made
  }

  /** Begins the search at this character too. Returns the steps. */
  function begin(before: number, rune: number, conditions: number): number {
    if (rune === NONE || rune >= ASCII) return follow(start, rune, conditions)
    const key = (hasAssertions ? kindOf(before) : 0) * ASCII + rune
    let known = starts[key]
    if (known === undefined) {
      known = makeStart(rune, conditions)
      starts[key] = known
    }
    if (known === null) return follow(start, rune, conditions)
    if (known.isMatch) isMatch = true
    for (let index = 0; index < known.outs.length; index += 1) {
      following[count] = known.outs[index] ?? 0
      count += 1
    }
    if (paidIn[key] === runs) return 1
    paidIn[key] = runs
    return 1 + known.steps
  }

  return {
    run(text, budget) {
      if (turn > MAX_TURN) {
        seenAt.fill(0)
        turn = 0
      }
      runs += 1
      count = 0
      isMatch = false
      let left = budget.steps
      let before = NONE
      for (let at = 0; !isMatch && left >= 0; ) {
        const rune = text.codePointAt(at) ?? NONE
        const conditions = hasAssertions ? conditionsBetween(before, rune) : 0
        turn += 1
        if (count > 0) left -= followAll(rune, conditions)
        left -= begin(before, rune, conditions)
        if (rune === NONE) break
        before = rune
        at += rune > 0xffff ? 2 : 1
      }
      budget.steps = left
      return left < 0 ? undefined : isMatch
    },
  }
}

function conditionsBetween(before: number, after: number): number {
  let conditions = isOfWord(before) === isOfWord(after) ? NO_WORD_BOUNDARY : WORD_BOUNDARY
  if (before === NONE) conditions |= BEGIN_TEXT
  if (before === NONE || before === NEWLINE) conditions |= BEGIN_LINE
  if (after === NONE) conditions |= END_TEXT
  if (after === NONE || after === NEWLINE) conditions |= END_LINE
  return conditions
}

function kindOf(rune: number): number {
  if (rune === NONE) return 0
  if (rune === NEWLINE) return 1
  return isOfWord(rune) ? 2 : 3
}

// Same as \w: ASCII alone.
function isOfWord(rune: number): boolean {
  return (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95
}
