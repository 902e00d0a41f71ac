// Schemas that many answers share: times, shapes that add members to another shape, and what is answered as it was sent.

import { z } from 'zod'

/**
 * A time of an answer, RFC 3339 in UTC. The service made the text, so the guard of answers does not parse it; a time of a
 * request is `timestamp` of params.ts.
 */
export const timestampView = z.string().meta({ format: 'date-time' })

/** Long work, whatever it is. */
export const WORK_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const
export type WorkStatus = (typeof WORK_STATUSES)[number]
export const workStatusView = z.enum(WORK_STATUSES).meta({ id: 'WorkStatus' })

const count = z.number().int()

/** The parts of work, by status. */
export const workCountsView = z
  .object({ queued: count, running: count, succeeded: count, failed: count, cancelled: count })
  .meta({ id: 'WorkCounts' })

/** Why work failed: one of `codes` for programs, and a sentence for people. */
export function workFailureView<const Codes extends readonly [string, ...string[]]>(id: string, codes: Codes) {
  const code = codes.length === 1 ? z.literal(codes[0]) : z.enum(codes).meta({ id: `${id}Code` })
  return z.object({ code: code as z.ZodType<Codes[number], Codes[number]>, detail: z.string() }).meta({ id })
}

const BASES = new WeakMap<z.ZodType, { base: z.ZodObject; own: readonly string[] }>()

/**
 * `base` with further members: the OpenAPI document has it as `allOf` of both, so that generated types inherit. A member
 * that both have is narrower in `members`. For answers, whose shapes are open; a strict body refuses what it does not
 * declare, and a part of it would refuse the other part.
 * @param meta `id` is the name of the component.
 */
export function extended<Shape extends z.core.$ZodLooseShape, Members extends z.core.$ZodLooseShape>(
  base: z.ZodObject<Shape>,
  members: Members,
  meta: { id: string; description?: string; verbatim?: true },
) {
  const schema = base.extend(members).meta(meta)
  BASES.set(schema, { base, own: Object.keys(members) })
  return schema
}

/** What `extended` made a schema of. */
export function baseOf(schema: object): { base: z.ZodObject; own: readonly string[] } | undefined {
  return BASES.get(schema as z.ZodType)
}

/** Another schema in the place of one, and the direction in which it is described. */
export interface Shown {
  readonly shown: z.ZodType
  readonly io: 'input' | 'output'
}

const SHOWN = new WeakMap<z.ZodType, Shown>()

/**
 * A schema that the OpenAPI document shows as another: for what was stored by this or another version of the service and is
 * answered as it is, while readers need its shape.
 * @param shown Has an id.
 */
export function shownAs<Guard extends z.ZodType>(guard: Guard, shown: z.ZodType): Guard {
  SHOWN.set(guard, { shown, io: 'output' })
  return guard
}

/**
 * A value that `request` checked when it was written: an answer passes it on unchecked, and the OpenAPI document describes
 * it by the component of the request, so that what was read can be sent back.
 * @param request Has an id.
 */
export function asWritten<Request extends z.ZodType>(request: Request) {
  const view = z.custom<z.output<Request>>((value) => typeof value === 'object' && value !== null)
  SHOWN.set(view, { shown: request, io: 'input' })
  return view
}

/** What a schema is shown as. */
export function shownOf(schema: object): Shown | undefined {
  return SHOWN.get(schema as z.ZodType)
}
