// What the generated table says of an operation.

export type JsonSchema = { readonly [keyword: string]: unknown }

export interface Operation {
  /** Name of the method in the client libraries: `claims.list`. */
  readonly name: string
  /** Name of its tool: `list_claims`. */
  readonly tool: string
  readonly summary: string
  readonly method: string
  /** With placeholders: `/v1/claims/{claim_id}`. */
  readonly path: string
  readonly effect: 'read' | 'write' | 'destructive'
  /** The scope that a key needs; null where any key will do. */
  readonly scope: string | null
  readonly pathArguments: readonly string[]
  readonly query: readonly string[]
  /** Headers by the names of their arguments. */
  readonly headers: Readonly<Record<string, string>>
  /** `whole`: the argument `body`. `lines`: one line for each of the argument `items`. */
  readonly body: 'members' | 'whole' | 'lines' | null
  /** The answer is a list, with or without a cursor. */
  readonly isPage: boolean
  /** The service may answer only when there is a result, for `wait` seconds. */
  readonly isWaiting: boolean
  readonly takesIdempotencyKey: boolean
  /** Arguments, without those of the definitions that they refer to. */
  readonly input: InputSchema
  /** The first level of the answer. */
  readonly output: JsonSchema
}

export interface InputSchema extends JsonSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}
