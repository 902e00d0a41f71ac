// Arguments of call_operation are checked as those of tools are, by the same validator. Each schema is compiled once.

import { fromJsonSchema, type StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import type { Answer } from '../calls/caller.ts'
import type { JsonSchema } from '../operation.ts'

export type Validated = { value: Answer; issues: undefined } | { value: undefined; issues: string }

const compiled = new Map<string, StandardSchemaWithJSON<Answer>>()

export function validatorOf(name: string, schemaOf: () => JsonSchema): (value: unknown) => Promise<Validated> {
  return async (value) => {
    const schema = compiled.get(name) ?? fromJsonSchema<Answer>(schemaOf())
    compiled.set(name, schema)
    const result = await schema['~standard'].validate(value)
    if (result.issues === undefined) return { value: result.value, issues: undefined }
    return { value: undefined, issues: result.issues.map(({ message }) => message).join('; ') }
  }
}
