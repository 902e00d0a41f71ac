// The pure rules of Authorize and of shares over unexpected values: terms of mandates against those of a parent,
// conditions over the elements of lists, and what a share shows of a graph. Each case is JSON, and is compared with
// what must hold whatever the values are.

import type { ActionAmounts } from '#src/authorize/action-amounts.ts'
import { judgeMandate, type MandateLevel } from '#src/authorize/mandates/judge.ts'
import { findBeyondParent, findInconsistent } from '#src/authorize/mandates/narrowing.ts'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { documentSchema, type PolicyCondition } from '#src/authorize/policy/document.ts'
import { evaluatePolicy, NO_ANSWERS, type PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import { parseAmount } from '#src/platform/amounts.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { groupMessages, LEAST_OF_TEXT, shareGraph } from '#src/trace/shares/by-message.ts'
import { createRandom, makeGraph } from '../test/trace/shares/exact-graph.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'

export function ruleParsers(): Parser[] {
  return [
    rule(
      {
        name: 'terms of a child mandate',
        source: 'authorize/mandates/narrowing, judge',
        refusals: ['wider', 'refused'],
      },
      makeFamily,
      judgeFamily,
    ),
    rule(
      {
        name: 'conditions over lists',
        source: 'authorize/policy/conditions',
        refusals: ['refused', 'denied', 'too costly'],
      },
      makePolicy,
      judgePolicy,
    ),
    rule(
      { name: 'graph by message', source: 'trace/shares/by-message', refusals: ['too short'] },
      makeConversation,
      judgeGraph,
    ),
  ]
}

// Verify evaluates a policy twice, beside other requests.
const LIMIT = { kind: 'thread', ms: 50 } as const

function rule<Case>(
  described: Pick<Parser, 'name' | 'source' | 'refusals'>,
  make: (dice: Dice) => Case,
  run: (one: Case) => string,
): Parser {
  return {
    ...described,
    limit: LIMIT,
    make: (dice) => Buffer.from(JSON.stringify(make(dice))),
    run: (input) => run(JSON.parse(input.toString())),
  }
}

// Mandates.

type Terms = Pick<MandateLevel, 'constraints' | 'budget' | 'not_before' | 'instruments' | 'expires_at' | 'timezone'>
type Action = Pick<ActionAmounts, 'action_type' | 'amount' | 'currency' | 'counterparty' | 'instrument'>
interface Family {
  parent: Terms
  child: Terms
  actions: { action: Action; at: string; local: MandateLevel['local'] }[]
}

const AMOUNTS = ['0', '0.0001', '5', '5.0000', '499.99', '500', '999999999999999.9999']
const WORDS = ['a', 'b', 'A', ' a', 'é', 'e\u0301', '', '__proto__']
const TIMES = [
  '2026-01-01T00:00:00.000Z',
  '2026-06-01T12:00:00.000Z',
  '2026-06-01T12:00:00.001Z',
  '9999-12-31T23:59:59.999Z',
]
const CLOCKS = ['00:00', '08:00', '08:01', '23:59', '24:00']
const END = '2030-01-01T00:00:00.000Z'

function makeFamily(dice: Dice): Family {
  const maybe = <Value>(make: () => Value) => (dice.once(2) ? make() : undefined)
  const some = <Value>(items: readonly Value[]) => items.filter(() => dice.once(2))
  const terms = (): Terms => {
    const given = {
      timezone: 'UTC',
      expires_at: dice.pick([END, '2026-06-01T12:00:00.001Z']),
      constraints: {
        min_amount: maybe(() => dice.pick(AMOUNTS)),
        max_amount: maybe(() => dice.pick(AMOUNTS)),
        currency: maybe(() => dice.pick(['EUR', 'USD'])),
        action_types: maybe(() => some(WORDS)),
        counterparties: maybe(() => some(WORDS)),
        window: maybe(() => ({
          weekdays: maybe(() => some([1, 2, 7])),
          from: maybe(() => dice.pick(CLOCKS)),
          to: maybe(() => dice.pick(CLOCKS)),
        })),
      },
      budget:
        maybe(() => ({
          limit: dice.pick(AMOUNTS),
          currency: dice.pick(['EUR', 'USD']),
          period: dice.pick(['total', 'day', 'week', 'month', 'year'] as const),
          max_count: maybe(() => dice.pick([1, 2, 1_000_000])),
        })) ?? null,
      not_before: maybe(() => dice.pick(TIMES)),
      instruments: maybe(() => some(WORDS)),
    }
    // JSON leaves out the members that are undefined.
    return JSON.parse(JSON.stringify(given))
  }
  const parent = terms()
  // A child that differs in much is refused for much: most differ in one limit.
  const other = terms()
  const changed = dice.pick(['budget', 'not_before', 'instruments', 'expires_at'] as const)
  const limit = dice.pick(['min_amount', 'max_amount', 'currency', 'action_types', 'counterparties', 'window'] as const)
  const constraints = { ...parent.constraints, [limit]: other.constraints[limit] }
  const budget = parent.budget && other.budget && { ...parent.budget, max_count: other.budget.max_count }
  const child: Terms = dice.pick([
    other,
    { ...parent, [changed]: other[changed] },
    { ...parent, constraints },
    JSON.parse(JSON.stringify({ ...parent, budget: budget ?? parent.budget, not_before: other.not_before })),
  ])
  // What the child allows: anything else says nothing of its parent.
  const {
    action_types: types,
    counterparties,
    currency,
    min_amount: least,
    max_amount: most,
    window,
  } = child.constraints
  const actions = Array.from({ length: 8 }, () => ({
    action: {
      action_type: dice.pick([null, ...(types ?? WORDS)]),
      amount: dice.pick([null, '-1', least ?? '0', most ?? '5', ...AMOUNTS]),
      currency: currency ?? child.budget?.currency ?? dice.pick([null, 'EUR', 'USD']),
      counterparty: dice.pick([null, ...(counterparties ?? WORDS)]),
      instrument: dice.pick([null, ...(child.instruments ?? WORDS)]),
    },
    at: dice.pick([child.not_before ?? '', ...TIMES].filter((time) => time !== '')),
    local: {
      weekday: dice.pick(window?.weekdays?.length ? window.weekdays : [1, 2, 7]),
      time: dice.pick([window?.from ?? '08:00', ...CLOCKS.slice(0, 4)]),
    },
  }))
  return { parent, child, actions }
}

function judgeFamily({ parent, child, actions }: Family): string {
  const levelOf = (terms: Terms, local: MandateLevel['local']): MandateLevel => ({
    ...terms,
    mandate_id: 'm',
    status: 'active',
    revoked_at: null,
    heartbeat: null,
    period: terms.budget === null ? null : { start: '2026-01-01', end: null },
    spent: '0',
    count: 0,
    local,
  })
  const factsOf = (...levels: MandateLevel[]) => ({
    mandate_id: 'm',
    levels,
    agent_id: null,
    pointers: {},
    attributes: {},
  })
  const inner = {
    ...child,
    notBefore: child.not_before === undefined ? null : new Date(child.not_before),
    instruments: child.instruments ?? null,
    expiresAt: new Date(child.expires_at),
  }
  const any = { weekday: 1, time: '00:00' }
  if (findInconsistent(inner).length > 0) return 'refused'
  const isWithin = findBeyondParent(factsOf(levelOf(parent, any)), inner).length === 0
  for (const { action, at, local } of actions) {
    const facts = { ...action, malformed: [], contradicted: {} }
    const allows = (...all: Terms[]) =>
      judgeMandate(factsOf(...all.map((one) => levelOf(one, local))), facts, at, { isCharged: false }) === undefined
    const [byParent, byChild, byBoth] = [allows(parent), allows(child), allows(parent, child)]
    hold(byBoth === (byParent && byChild), 'a chain allows what each of its levels allows')
    // What a child does not limit, its parent limits: only what it does limit must lie within.
    if (isWithin && byChild) holdWithin(parent, child, action, at)
  }
  return isWithin ? 'accepted' : 'wider'
}

// A reading of docs/authorize/mandates.md, limit by limit: where both name one, the child's is not wider.
function holdWithin(
  parent: Terms,
  child: Terms,
  { amount, instrument, counterparty, action_type }: Action,
  at: string,
) {
  const units = (text: string | undefined) => (text === undefined ? undefined : parseAmount(text))
  const spent = amount === null ? undefined : (parseAmount(amount) ?? 0n)
  const [least, most] = [units(parent.constraints.min_amount), units(parent.constraints.max_amount)]
  const names = (outer: string[] | undefined, own: string[] | undefined, value: string | null) =>
    outer === undefined || own === undefined || (value !== null && outer.includes(value))
  if (spent !== undefined && child.constraints.min_amount !== undefined)
    hold(least === undefined || spent >= least, 'no less than the parent')
  if (spent !== undefined && child.constraints.max_amount !== undefined)
    hold(most === undefined || spent <= most, 'no more than the parent')
  hold(names(parent.instruments, child.instruments, instrument), 'no instrument that the parent does not name')
  hold(
    names(parent.constraints.counterparties, child.constraints.counterparties, counterparty),
    'no other counterparty',
  )
  hold(names(parent.constraints.action_types, child.constraints.action_types, action_type), 'no other type')
  if (child.not_before !== undefined)
    hold(parent.not_before === undefined || at >= parent.not_before, 'no earlier than the parent')
  const [outer, own] = [parent.budget, child.budget]
  if (outer === null || own === null) return
  hold((units(own.limit) ?? 0n) <= (units(outer.limit) ?? 0n), 'no larger budget')
  hold(
    outer.max_count === undefined || own.max_count === undefined || own.max_count <= outer.max_count,
    'no more executions',
  )
}

// Conditions over lists.

interface PolicyCase {
  when: PolicyCondition
  payload: JsonObject
}

const ELEMENTS: readonly Json[] = [
  null,
  1,
  '1',
  'a',
  true,
  [],
  {},
  { x: null },
  { x: 5 },
  { x: [{ x: 5 }] },
  { 0: 'a' },
]
const LENGTHS = [0, 1, 3, 40, 2_000, 60_000]
const ITEMS = 'action_payload.items'
const LISTS = [ITEMS, ITEMS, ITEMS, 'action_payload.missing', 'action_payload.text', 'context.list']

/** Quantifiers up to ten deep over lists that are short, long, missing, or no lists. */
function makePolicy(dice: Dice): PolicyCase {
  const comparison = (aliases: readonly string[]): PolicyCondition => {
    const alias = dice.pick([...aliases, 'action_payload'])
    const field = `${alias}.${dice.pick(['x', 'x.0.x', '0', 'items.7'])}`
    const pattern = dice.pick(['(?:a|b){2,9}', '.*a.*', '[a-z]{1,40}$'])
    const [op, value] = dice.pick([
      ['eq', 'a'],
      ['ne', 5],
      ['gt', '4.5'],
      ['in', ['a', 5]],
      ['not_in', ['a']],
      ['exists', dice.once(2)],
      ['contains', 'a'],
      ['matches', pattern],
    ] as const)
    return { field, op, value: Array.isArray(value) ? [...value] : value } as PolicyCondition
  }
  const condition = (depth: number, aliases: readonly string[]): PolicyCondition => {
    if (depth === 0) return comparison(aliases)
    const as = `e${aliases.length}`
    const kind = dice.pick(['all', 'any'] as const)
    switch (dice.below(4)) {
      case 0:
        return { not: condition(depth - 1, aliases) }
      case 1:
        return { [kind]: [condition(depth - 1, aliases), comparison(aliases)] }
      default: {
        const list = dice.once(3) && aliases.length > 0 ? `${aliases.at(-1)}.x` : dice.pick(LISTS)
        return { [kind]: { in: list, as, when: condition(depth - 1, [...aliases, as]) } }
      }
    }
  }
  const length = dice.pick(LENGTHS)
  const some = Array.from({ length: Math.min(length, 5) }, () => dice.pick(ELEMENTS))
  const items = Array.from({ length }, (_, index) => some[index % some.length] ?? null)
  return {
    when: condition(dice.pick([1, 2, 2, 3, 3, 4, 10]), []),
    payload: { items, text: 'ab'.repeat(dice.pick([1, 500, 4_000])), x: dice.pick(ELEMENTS) },
  }
}

function judgePolicy({ when, payload }: PolicyCase): string {
  const documentOf = (condition: PolicyCondition) =>
    documentSchema.safeParse({ rules: [{ id: 'r', when: condition, require: { biometric: true } }] })
  const [plain, negated] = [documentOf(when), documentOf({ not: { not: when } })]
  if (!plain.success) return 'refused'
  const answerOf = (document: typeof plain.data) => {
    const { refusals, results, isOverBudget } = evaluatePolicy(
      compilePolicy(document),
      { ...FACTS, action_payload: payload },
      NO_ANSWERS,
    )
    return { refusals: refusals.length, error: results.some(({ error }) => error !== undefined), isOverBudget }
  }
  const answer = answerOf(plain.data)
  if (answer.isOverBudget) {
    hold(answer.refusals > 0, 'what costs too much to evaluate is refused')
    return 'too costly'
  }
  if (answer.error) hold(answer.refusals > 0, 'what can not be evaluated is refused')
  if (negated.success) {
    const twice = answerOf(negated.data)
    hold(twice.isOverBudget === true || twice.refusals === answer.refusals, 'not around not changes nothing')
  }
  return answer.refusals > 0 ? 'denied' : 'accepted'
}

const FACTS: Omit<PolicyFacts, 'action_payload'> = {
  action_type: 'purchase',
  action_description: 'Order paper',
  context: { list: [1, 'a'] },
  agent: null,
  device: { id: 'd', tier: 'none', enrolled: false },
  session: {},
  mandate: null,
  schedule: null,
  at: '2026-06-01T12:00:00.000Z',
  token: { biometric: false },
}

// Shares.

interface Conversation {
  seed: number
  tokens: string[]
  hidden: number
}

const TEMPLATE = ['<|im_start|>', '<|im_end|>', '\n', 'system', 'user', 'assist', 'ant']

/** Turns, some broken or spelled by the text itself. */
function makeConversation(dice: Dice): Conversation {
  const word = () => (dice.once(12) ? dice.pick(TEMPLATE) : `zq${dice.below(1_000_000)}`)
  const turn = () => [
    '<|im_start|>',
    dice.once(3) ? word() : dice.pick(['system', 'user']),
    '\n',
    ...Array.from({ length: dice.pick([0, 7, 8, 12, 20]) }, word),
    '<|im_end|>',
    '\n',
  ]
  const tokens = dice.once(4)
    ? Array.from({ length: dice.below(30) }, word)
    : Array.from({ length: 1 + dice.below(3) }, turn).flat()
  return {
    seed: dice.below(1_000_000),
    tokens: [...tokens, ...TEMPLATE.slice(0, 1), 'assist', 'ant', '\n'],
    hidden: dice.below(3),
  }
}

function judgeGraph({ seed, tokens, hidden }: Conversation): string {
  const made = makeGraph(createRandom(seed), { positions: tokens.length, layers: 2, neurons: 1, kept: 0.3 })
  const manifest = { ...made, metadata: { ...made.metadata, prompt_tokens: tokens } }
  const neurons = manifest.nodes.filter(({ feature_type: type }) => type === 'mlp neuron')
  const masks =
    hidden === 0 ? [] : [{ nodeIds: new Set(neurons.slice(-hidden).map(({ node_id: id }) => id)), reveals: [] }]
  const groups = groupMessages(tokens)
  const graph = shareGraph(
    manifest,
    { masks, disclosed: new Set(), salt: Buffer.alloc(16, 7) },
    { revealsPrompt: false },
  )
  hold((graph === undefined) === (groups.length === 0), 'a graph is shown where there are messages')
  if (graph === undefined) return 'too short'
  const ends = groups.map(({ end }) => end)
  hold(tokens.length >= LEAST_OF_TEXT && ends.at(-1) === tokens.length, 'the messages are the whole text')
  hold(
    ends.every((end, index) => end > (ends[index - 1] ?? 0)),
    'one after the other',
  )
  const text = JSON.stringify(graph)
  hold(!/zq\d/.test(text), 'no word of the prompt is shown')
  hold(
    graph.nodes.every(({ ctx_idx: at }) => at < groups.length),
    'no position is shown',
  )
  const ids = new Set(graph.nodes.map(({ node_id: id }) => id))
  hold(ids.size === graph.nodes.length, 'each node is there once')
  hold(
    graph.links.every(({ source, target, weight }) => ids.has(source) && ids.has(target) && Number.isFinite(weight)),
    'links lead from node to node',
  )
  for (const { nodeIds } of masks)
    for (const id of nodeIds) hold(!text.includes(`"${id}"`), 'a masked node is not named')
  return 'accepted'
}
