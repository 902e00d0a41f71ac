// Documented examples of answers.

import type { Media, OpenApiDocument } from '../../clients/generate/document.ts'
import type { Operation } from '../../clients/generate/operations.ts'

/** The documented examples of the answer of an operation, as values of JSON. */
export function examplesOf(media: Media | undefined): unknown[] {
  const { example, examples = {} } = media ?? {}
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
}

export function exampleOf(document: OpenApiDocument, operation: Pick<Operation, 'id'>): unknown {
  return examplesOf(answerOf(document, operation)['application/json'])[0]
}

/** The first line of an answer of lines. */
export function lineExampleOf(document: OpenApiDocument, operation: Pick<Operation, 'id'>): object {
  const [text] = examplesOf(answerOf(document, operation)['application/x-ndjson'])
  return JSON.parse(String(text).split('\n')[0] ?? '')
}

function answerOf({ paths }: OpenApiDocument, { id }: Pick<Operation, 'id'>): Record<string, Media> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const described = operations.find(({ operationId }) => operationId === id)
  const success = Object.entries(described?.responses ?? {}).find(([status]) => status.startsWith('2'))
  return success?.[1].content ?? {}
}
