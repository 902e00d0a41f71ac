// What can go wrong, for the OpenAPI document: one response per status, with an example per code.

import { FAILURES, Failure, type FailureCode } from '#src/failure.ts'
import { guidanceOf } from '#src/guidance.ts'
import type { Route } from './endpoint.ts'
import type { Components, Schema } from './openapi-schema.ts'
import { problemOf, problemType } from './respond.ts'

const EXAMPLE_REQUEST_ID = 'req_01m7x7k0kweezv2g6agvqmrk2v'

/** Statuses of the problems that a route can answer, ascending. `more`: what only its handler knows. */
export function problemStatuses(route: Route, more: readonly number[] = []): number[] {
  const statuses = new Set([500, 503, ...more])
  const hasBody = route.body !== undefined || route.rawBody !== undefined
  if (route.public === undefined) for (const status of [401, 403]) statuses.add(status)
  // A parameter that nobody declared is refused, except by public pages and files.
  if (route.public === undefined || route.streams === undefined) statuses.add(400)
  if (route.path.includes(':')) statuses.add(404)
  if (hasBody) for (const status of [400, 408, 413, 415]) statuses.add(status)
  if (route.method !== 'GET' && route.public === undefined) statuses.add(409)
  if (route.isIdempotent) statuses.add(422)
  return [...statuses].sort((a, b) => a - b)
}

export function problemReferences(statuses: readonly number[]): Schema {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/${responseName(status)}` }]),
  )
}

/** The components that `problemReferences` refer to. */
export function problemResponses(statuses: Iterable<number>, baseUrl: string): Components {
  const codes = Object.keys(FAILURES) as FailureCode[]
  return Object.fromEntries(
    [...new Set(statuses)].sort().map((status) => {
      const named = codes.filter((code) => FAILURES[code].status === status)
      const examples = Object.fromEntries(
        named.map((code) => [code, { summary: guidanceOf(code).happened, value: exampleProblem(code, baseUrl) }]),
      )
      const description = named.map((code) => `[\`${code}\`](${problemType(baseUrl, code)})`).join(', ')
      const schema = { $ref: '#/components/schemas/Problem' }
      return [responseName(status), { description, content: { 'application/problem+json': { schema, examples } } }]
    }),
  )
}

/** An answer as a caller would see it. */
export function exampleProblem(code: FailureCode, baseUrl: string): Record<string, unknown> {
  const failure = new Failure(code, guidanceOf(code).example)
  return JSON.parse(problemOf(failure, { baseUrl, requestId: EXAMPLE_REQUEST_ID }).text)
}

export function problemSchema(baseUrl: string): Schema {
  return {
    type: 'object',
    description: 'RFC 9457. `code` is stable for ever; some codes carry members of their own.',
    required: ['type', 'title', 'status', 'code', 'detail', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri', examples: [problemType(baseUrl, 'not_found')] },
      title: { type: 'string' },
      status: { type: 'integer' },
      code: { type: 'string', enum: Object.keys(FAILURES) },
      detail: { type: 'string', description: 'For people: it may change.' },
      request_id: { type: 'string', description: 'Tell it when something goes wrong on our side.' },
      required_scope: { type: 'string', description: 'With insufficient_scope.' },
      allowed: {
        type: 'array',
        items: { type: 'string' },
        description: 'With invalid_state_transition: the states from which it is possible.',
      },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['pointer', 'code', 'detail'],
          properties: {
            pointer: {
              type: 'string',
              description: 'RFC 6901 into the body, `?name` of the query, or the name of a header.',
            },
            code: { type: 'string' },
            detail: { type: 'string' },
          },
        },
      },
    },
  }
}

function responseName(status: number): string {
  return `Problem${status}`
}
