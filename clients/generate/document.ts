// The OpenAPI document as the code makes it, without a running service, and the parts of it that generators read.

import { allRoutes } from '#src/app.ts'
import { readConfig } from '#src/config.ts'
import { notesOf } from '#src/docs/notes.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices } from '#src/services.ts'

/** A JSON Schema. `shapes.ts` says which keywords are known. */
export type Schema = { readonly [keyword: string]: unknown }

export interface Media {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

export interface DocumentParameter {
  $ref?: string
  name?: string
  in?: string
  required?: boolean
  description?: string
  schema?: Schema
}

export interface DocumentOperation {
  operationId: string
  summary: string
  description: string
  'x-sdk'?: string
  'x-no-sdk'?: string
  'x-effect': 'read' | 'write' | 'destructive'
  'x-kind': 'call' | 'list' | 'upload' | 'download' | 'wait' | 'lines'
  'x-required-scope'?: string
  'x-required-permission'?: string
  security: readonly Record<string, unknown>[]
  parameters: readonly DocumentParameter[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, { $ref?: string; content?: Record<string, Media> }>
}

export interface OpenApiDocument {
  info: { version: string }
  paths: Record<string, Record<string, DocumentOperation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, DocumentParameter> }
}

/** All features are created on a configuration that connects to nothing. */
export async function readDocument(): Promise<OpenApiDocument> {
  const baseUrl = 'https://api.example.test'
  const config = readConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BLOB_STORE: 'disk:none',
  })
  const { features, close } = createServices({ config, log: createLog({ process: 'clients', level: 'silent' }) })
  try {
    const routes = features.flatMap((feature) => feature.routes ?? [])
    const table = allRoutes({ routes, jwks: async () => ({ keys: [] }), baseUrl })
    const described = await describeRoutes(table, { baseUrl, notes: notesOf(features) })
    // What is undefined in the code is absent in the text that callers read.
    return JSON.parse(JSON.stringify(described))
  } finally {
    await close()
  }
}
