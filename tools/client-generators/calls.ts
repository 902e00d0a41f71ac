// A TypeScript program that calls every operation with its own example, and assigns every example of an answer to its type.

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  const?: unknown
  items?: Schema
  anyOf?: Schema[]
}

interface Parameter {
  $ref?: string
  name: string
  in: string
  required: boolean
  schema: Schema
}

interface Media {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

export interface ClientOperation {
  operationId: string
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, { $ref?: string; content?: Record<string, Media> }>
}

export interface ClientDocument {
  paths: Record<string, Record<string, ClientOperation>>
  components: { schemas: Record<string, Schema> }
}

const JSON_TYPE = 'application/json'

export function callsOf({ paths, components }: ClientDocument): { text: string; operations: number; answers: number } {
  const lines = [
    "import createClient from 'openapi-fetch'",
    "import type { components, paths } from './api.js'",
    "const client = createClient<paths>({ baseUrl: 'https://api.example.test' })",
    'void (null as components | null)',
  ]
  let operations = 0
  let answers = 0
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      operations += 1
      for (const options of optionsOf(operation, components.schemas)) {
        lines.push(`void client.${method.toUpperCase()}(${JSON.stringify(path)}, ${options})`)
      }
      for (const [status, { content }] of Object.entries(operation.responses)) {
        for (const example of examplesOf(content?.[JSON_TYPE])) {
          answers += 1
          const type = `paths[${JSON.stringify(path)}]['${method}']['responses'][${status}]['content']['${JSON_TYPE}']`
          lines.push(`export const ${operation.operationId}${status}Of${answers}: ${type} = ${JSON.stringify(example)}`)
        }
      }
    }
  }
  return { text: `${lines.join('\n')}\n`, operations, answers }
}

// One call for each example of the body. Bytes have no type that a program could check.
function optionsOf({ parameters, requestBody }: ClientOperation, schemas: Record<string, Schema>): string[] {
  const of = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place && parameter.required)
      .map(({ name, schema }) => `${JSON.stringify(name)}: ${JSON.stringify(sampleOf(schema, schemas))}`)
      .join(', ')
  const places = ['path', 'query'].filter((place) => parameters.some((parameter) => parameter.in === place))
  const params =
    places.length === 0 ? '' : `params: { ${places.map((place) => `${place}: { ${of(place)} }`).join(', ')} }, `
  if (requestBody === undefined) return [`{ ${params}}`]
  const bodies = examplesOf(requestBody.content[JSON_TYPE])
  if (bodies.length === 0) return [`{ ${params}body: '' as never }`]
  return bodies.map((body) => `{ ${params}body: ${JSON.stringify(body)} }`)
}

function examplesOf(media: Media | undefined): unknown[] {
  const { example, examples = {} } = media ?? {}
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
}

function sampleOf(schema: Schema, schemas: Record<string, Schema>): unknown {
  if (schema.$ref !== undefined) return sampleOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf?.[0] !== undefined) return sampleOf(schema.anyOf[0], schemas)
  if (schema.type === 'array') return [sampleOf(schema.items ?? {}, schemas)]
  return schema.type === 'integer' || schema.type === 'number' ? 1 : schema.type === 'boolean' ? true : 'x'
}
