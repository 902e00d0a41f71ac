// Validates the answers of a route against its part of the OpenAPI document, closed lists and formats included. The
// document of one route is built at its first answer, so that a file pays only for the routes that it calls.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { z } from 'zod'
import type { Failure } from '#src/failure.ts'
import type { Answer, Route } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { describeSuccesses } from '#src/platform/http/openapi-content.ts'
import { problemView } from '#src/platform/http/openapi-problems.ts'
import type { Components } from '#src/platform/http/openapi-schema.ts'
import type { ErrorForm } from '#src/platform/http/respond.ts'
import { problemOf } from '#src/platform/http/respond.ts'

const DOCUMENT = 'https://api.example.test/v1/openapi.json'
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

interface Media {
  schema?: { $ref?: string; contentSchema?: object }
}

export interface AnswerCheck {
  /** What is wrong with an answer: nothing, or one sentence. `onLine` hears of lines that are sent later. */
  check(answer: Answer, onLine: (wrong: string) => void): string | undefined
}

export function createAnswerCheck(route: Route, note: Note): AnswerCheck {
  const validators = new Map<string, ValidateFunction | undefined>()
  let ajv: Ajv2020 | undefined
  let responses: Record<string, { content?: Record<string, Media> }> = {}

  function open(): Ajv2020 {
    if (ajv !== undefined) return ajv
    const schemas: Components = {}
    const name = route.operationId.charAt(0).toUpperCase() + route.operationId.slice(1)
    responses = describeSuccesses(route, { name, schemas, note }) as typeof responses
    ajv = new Ajv2020({ strict: false, formats: { 'date-time': TIME, uri: true, email: true, date: true } })
    ajv.addSchema({ $id: DOCUMENT, components: { schemas }, responses })
    return ajv
  }

  function validatorOf(status: number, type: string): ValidateFunction | undefined {
    const key = `${status} ${type}`
    if (validators.has(key)) return validators.get(key)
    const opened = open()
    const { schema } = responses[status]?.content?.[type] ?? {}
    const pointer = [status, 'content', type.replaceAll('/', '~1'), 'schema'].join('/')
    const place = `${DOCUMENT}#/responses/${pointer}${schema?.contentSchema === undefined ? '' : '/contentSchema'}`
    const validator = schema === undefined ? undefined : opened.compile({ $ref: place })
    validators.set(key, validator)
    return validator
  }

  function findWrong(validator: ValidateFunction | undefined, text: string): string | undefined {
    if (validator === undefined || validator(JSON.parse(text))) return undefined
    const [first] = validator.errors ?? []
    return `${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`
  }

  return {
    check(answer, onLine) {
      const type = (answer.headers['Content-Type'] ?? '').split(';')[0] ?? ''
      if ('stream' in answer) {
        if (type === NDJSON_TYPE)
          watchLines(answer, (line) => findWrong(validatorOf(answer.status, type), line), onLine)
        return undefined
      }
      const isJson = /^application\/(?:[a-z]+\+)?json$/.test(type) && typeof answer.text === 'string'
      return isJson ? findWrong(validatorOf(answer.status, type), String(answer.text)) : undefined
    },
  }
}

// Looks at what is pushed, so that reading, back-pressure and errors of the stream stay as they are.
function watchLines(
  { stream }: Extract<Answer, { stream: unknown }>,
  findWrong: (line: string) => string | undefined,
  onWrong: (wrong: string) => void,
): void {
  let rest = ''
  const push = stream.push.bind(stream)
  stream.push = (chunk: unknown, ...more) => {
    if (chunk !== null && chunk !== undefined) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      const wrong = lines.map(findWrong).find((one) => one !== undefined)
      if (wrong !== undefined) onWrong(wrong)
    }
    return push(chunk, ...more)
  }
}

const strictProblems = new Map<string, z.ZodType>()

/** What is wrong with a problem: a member that its code does not have, or a code of a finding that is not in the list. */
export function findWrongProblem(failure: Failure, form?: ErrorForm): string | undefined {
  if (form !== undefined) return form.view.safeParse(form.show(failure, failure.message)).error?.issues[0]?.message
  const schema = strictProblems.get(failure.code) ?? z.strictObject(problemView(failure.code).shape)
  strictProblems.set(failure.code, schema)
  const { text } = problemOf(failure, { baseUrl: 'https://api.example.test', requestId: 'req_1' })
  const parsed = schema.safeParse(JSON.parse(text))
  const [first] = parsed.error?.issues ?? []
  return first === undefined ? undefined : `${first.path.join('/')} ${first.message}`
}
