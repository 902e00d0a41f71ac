// Compares the answers of routes in tests with the OpenAPI document: an answer that does not fit its schema, a problem whose
// code is not declared for its operation or whose detail is no sentence, a member that the example of an answer does not
// show, and a header that its note does not name are collected, and fail the test file at its end.

import type { AuditAction } from '#src/catalogue/audit.ts'
import type { Answer, Route } from '#src/platform/http/endpoint.ts'
import type { AnswerNote, Note } from '#src/platform/http/openapi.ts'
import { problemCodes } from '#src/platform/http/openapi-problems.ts'
import { toFailure } from '#src/platform/http/respond.ts'
import { createAnswerCheck, findWrongProblem } from './answer-check.ts'
import { makeServices } from './services.ts'

export interface Declared {
  routes: Route[]
  /** Undeclared answers, each once. */
  undeclared(): string[]
  /** The actions of the audit log that routes declare and that must have happened, as they answered with success. */
  acted(): AuditAction[]
}

const NOTES: Record<string, Note> = Object.assign({}, ...makeServices().features.map(({ notes }) => notes))
// An example shows a usual answer; these members occur in unusual ones only.
const UNUSUAL = new Set([
  'erased_at',
  'failure',
  'secret_shown',
  'total_count',
  'device_id',
  'policy_version',
  'media_sha256',
  'signing_key_revoked',
  'rule_results_omitted',
  // With every other member, where a token is under a mandate or a schedule.
  'mandate_remaining',
  'schedule_cycle',
])

export function watchDeclared(routes: readonly Route[]): Declared {
  const found = new Set<string>()
  const acted = new Set<AuditAction>()
  return {
    undeclared: () => [...found].sort(),
    acted: () => [...acted].sort(),
    routes: routes.map((route) => {
      const name = `${route.method} ${route.path}`
      const note = NOTES[name]
      // Routes of tests are not in the document.
      if (note === undefined) return route
      const codes = new Set<string>(problemCodes(route, note.problems))
      const { check } = createAnswerCheck(route, note)
      return {
        ...route,
        async handle(exchange) {
          try {
            const answer = await route.handle(exchange)
            if (route.audits !== undefined) acted.add(route.audits)
            for (const member of unshown(note.answers?.[answer.status], answer)) {
              found.add(`${name} ${answer.status} has ${member}, which its example does not show`)
            }
            for (const header of unnamed(note.answers?.[answer.status], answer)) {
              found.add(`${name} ${answer.status} has the header ${header}, which is not declared`)
            }
            const tell = (wrong: string) => found.add(`${name} ${answer.status} does not fit its schema: ${wrong}`)
            const wrong = check(answer, tell)
            if (wrong !== undefined) tell(wrong)
            return answer
          } catch (error) {
            const failure = toFailure(error)
            const { code, status, message } = failure
            const wrong = findWrongProblem(failure, route.errorForm)
            if (wrong !== undefined) found.add(`${name} answers ${code} with ${wrong}`)
            if (!isSentence(message)) found.add(`${name} answers ${code} with no sentence: ${message}`)
            if (!codes.has(code)) found.add(`${name} answers ${status} ${code}`)
            throw error
          }
        },
      }
    }),
  }
}

// It may begin with the place of a finding or with an id.
function isSentence(detail: string): boolean {
  return /[^.][.!?]$/.test(detail) && !/^\p{Ll}+ /u.test(detail)
}

function unshown({ example, examples = { example } }: AnswerNote = {}, answer: Answer): string[] {
  if (!('text' in answer) || typeof answer.text !== 'string' || answer.text === '') return []
  const told: unknown = JSON.parse(answer.text)
  const missing = Object.values(examples)
    .filter((one) => one !== undefined && statusOf(one) === statusOf(told))
    .map((one) => membersOf(told).filter((name) => !UNUSUAL.has(name) && !membersOf(one).includes(name)))
  return missing.toSorted((a, b) => a.length - b.length)[0] ?? []
}

// Other headers are not compared: every operation has some, and the rest belong to the content.
const OWN_HEADERS = ['Location', 'Retry-After', 'Preference-Applied', 'Accept-Ranges', 'Content-Range']

function unnamed({ headers: named = {} }: AnswerNote = {}, { headers = {} }: Answer): string[] {
  return OWN_HEADERS.filter((name) => headers[name] !== undefined && named[name] === undefined)
}

function membersOf(value: unknown): string[] {
  const item = value !== null && typeof value === 'object' && 'data' in value ? (value.data as unknown[])[0] : value
  return item !== null && typeof item === 'object' ? Object.keys(item) : []
}

// Answers of several statuses have members of their own.
function statusOf(value: unknown): unknown {
  return value !== null && typeof value === 'object' && 'status' in value ? value.status : undefined
}
