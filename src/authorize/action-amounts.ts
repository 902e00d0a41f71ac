// What mandates and schedules compare of an action: its amount, currency, counterparty and type. They come from the payload,
// which the token binds. The same member at another place may only agree: else an agent would choose which one is compared.

import { formatAmount, isCurrency, parseAmount } from '#src/platform/amounts.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'

/** null: not there, or malformed. */
export interface ActionAmounts {
  action_type: string | null
  /** Decimal text, as `formatAmount` writes it. May be negative. */
  amount: string | null
  currency: string | null
  counterparty: string | null
  /** The payment instrument. */
  instrument: string | null
  /** Names of members that are there and can't be read, or that contradict another place. */
  malformed: string[]
  /** Where a name that the request has beside the payload differs from the payload's. */
  contradicted: { [Member in keyof NamedBeside & ActionMember]?: Contradiction }
}

/** The payload's value, and the one that differs. */
export interface Contradiction {
  expected: Json
  actual: Json
}

export const ACTION_MEMBERS = ['action_type', 'amount', 'currency', 'counterparty', 'instrument'] as const
export type ActionMember = (typeof ACTION_MEMBERS)[number]

/** Where in the payload a member stands: an RFC 6901 JSON pointer. Without one: the payload's member of that name. */
export type ActionPointers = { [Member in ActionMember]?: string }

/** What a request names besides the payload. */
export interface NamedBeside {
  action_type?: string | null | undefined
  counterparty?: string | null | undefined
  /** Values of `transaction_amount` in contexts. */
  amounts?: readonly (Json | undefined)[]
}

export function actionAmountsOf(
  payload: JsonObject,
  pointers: ActionPointers = {},
  named: NamedBeside = {},
): ActionAmounts {
  const malformed: string[] = []
  const contradicted: ActionAmounts['contradicted'] = {}
  const payloadAt = (member: ActionMember) => {
    const pointer = pointers[member]
    return pointer === undefined ? own(payload, member) : resolve(payload, pointer)
  }
  const read = (
    member: ActionMember,
    parse: (value: Json) => string | undefined,
    beside: readonly (Json | undefined)[] = [],
  ) => {
    const value = payloadAt(member)
    if (isAbsent(value)) return null
    const others = pointers[member] === undefined ? beside : [own(payload, member), ...beside]
    const found = parse(value)
    if (found !== undefined && others.every((other) => isAbsent(other) || parse(other) === found)) return found
    malformed.push(member)
    return null
  }
  const readNamed = (member: 'action_type' | 'counterparty') => {
    const { [member]: actual } = named
    const name = read(member, nameOf, [actual])
    if (!isAbsent(actual) && malformed.includes(member)) {
      contradicted[member] = { expected: nameOf(payloadAt(member) ?? null) ?? null, actual }
    }
    return name
  }
  return {
    action_type: readNamed('action_type'),
    amount: read('amount', amountOf, [own(payload, 'transaction_amount'), ...(named.amounts ?? [])]),
    currency: read('currency', (value) => (isCurrency(value) ? value : undefined)),
    counterparty: readNamed('counterparty'),
    instrument: read('instrument', nameOf),
    malformed,
    contradicted,
  }
}

/** Whether it is an RFC 6901 pointer to a member. Bounded: it is resolved in every decision. */
export function isPointer(text: string): boolean {
  return text.length <= MAX_POINTER_LENGTH && /^(?:\/(?:[^~/]|~[01])*){1,10}$/.test(text)
}

const MAX_POINTER_LENGTH = 200
const MAX_NAME_LENGTH = 200

function resolve(payload: JsonObject, pointer: string): Json | undefined {
  let value: Json | undefined = payload
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) value = /^(?:0|[1-9]\d{0,5})$/.test(name) ? value[Number(name)] : undefined
    else if (typeof value === 'object' && value !== null) value = own(value, name)
    else return undefined
  }
  return value
}

// An inherited member, such as `constructor`, does not count as a member of the payload.
function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null
}

function nameOf(value: Json): string | undefined {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH ? value : undefined
}

function amountOf(value: Json): string | undefined {
  const units = parseAmount(value)
  return units === undefined ? undefined : formatAmount(units)
}
