// Writes the skeleton of a feature or of a queue, and lists the places that remain to edit. The house tests report a
// place that was missed; this command saves the typing.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exitCodeOf, usageError } from './sentence.ts'

const USAGE = `Usage: npm run new -- feature PRODUCT/NAME
       npm run new -- queue NAME

  feature  writes src/PRODUCT/NAME/ (feature, routes, notes, domain, rows) with a test, and adds it to its product
  queue    adds NAME to the table of queues and the Procfile, and writes workers/NAME.ts

  PRODUCT is a folder of src/ that has a PRODUCT.ts, such as attest. NAME is one lower-case word.
`

/** The files written, relative to the root, and the remaining edits. */
interface Written {
  files: string[]
  remaining: string[]
}

/** @throws {Error} a usage error for wrong words; an error for a name in use. Nothing is written then. */
export function writeNew(root: string, [kind, name = '', ...others]: readonly string[]): Written {
  if (others.length > 0) throw usageError(`"${others[0]}" is too much.`)
  if (kind === 'feature') return writeFeature(root, name)
  if (kind === 'queue') return writeQueue(root, name)
  throw usageError(kind === undefined ? 'Say what to write.' : `There is no kind "${kind}".`)
}

function writeFeature(root: string, path: string): Written {
  const [, product = '', name = ''] = /^([a-z]+)\/([a-z]+)$/.exec(path) ?? []
  if (name === '') throw usageError('feature: name it as PRODUCT/NAME, such as attest/samples.')
  const productFile = join(root, 'src', product, `${product}.ts`)
  if (!existsSync(productFile))
    throw usageError(`feature: there is no product ${product} (src/${product}/${product}.ts).`)
  const folder = `src/${product}/${name}`
  if (existsSync(join(root, folder))) throw new Error(`${folder} exists already.`)
  const texts = featureTexts(product, name)
  const registered = registerFeature(readFileSync(productFile, 'utf8'), name)
  for (const [file, text] of Object.entries(texts)) write(root, file, text)
  writeFileSync(productFile, registered)
  return {
    files: [...Object.keys(texts), `src/${product}/${product}.ts`],
    remaining: [
      `test/house/layers.test.ts: the layer of ${product}/${name}`,
      `migrations/: the table ${name}, if it has one of its own`,
      `src/catalogue/: new events, id prefixes and queues, if it has any`,
      `test/house/routes.test.ts: each route with its scope; ${folder}/routes.ts: its permission, for sessions`,
      `bench/neighbours/requests.ts: a request of the honest tenant for each route`,
      `UPDATE=1 npm test -- test/house/openapi-structure.test.ts: the routes in the OpenAPI document`,
      `docs/: what integrators and operators must know`,
    ],
  }
}

// A product lists its features in an object or an array, which the formatter may have put on one line.
const FEATURES = /^ {2}const features = ([{[])([^}\]]*)([}\]])$/m

function registerFeature(text: string, name: string): string {
  if (!FEATURES.test(text)) throw new Error('the product has no list of features')
  const listed = text.replace(FEATURES, (_, open: string, names: string, close: string) => {
    const others = names.trimEnd().replace(/,$/, '')
    return `  const ${name} = ${name}Feature(p)\n  const features = ${open}${others}, ${name} ${close}`
  })
  const last = listed.lastIndexOf('import ')
  const end = listed.indexOf('\n', listed.indexOf("from '", last)) + 1
  return `${listed.slice(0, end)}import { ${name}Feature } from './${name}/feature.ts'\n${listed.slice(end)}`
}

function featureTexts(product: string, name: string): Record<string, string> {
  const type = name.charAt(0).toUpperCase() + name.slice(1)
  const folder = `src/${product}/${name}`
  return {
    [`${folder}/feature.ts`]: `import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { create${type} } from './${name}.ts'
import { NOTES } from './notes.ts'
import { ${name}Routes } from './routes.ts'

export type ${type}Feature = ReturnType<typeof ${name}Feature>

/** One sentence: what this feature adds to the service. */
export function ${name}Feature(p: Platform) {
  const ${name} = create${type}(p)
  return defineFeature({ name: '${name}', routes: ${name}Routes(${name}), notes: NOTES }, { ${name} })
}
`,
    [`${folder}/${name}.ts`]: `import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { count${type} } from './rows.ts'

export type ${type} = ReturnType<typeof create${type}>

export function create${type}({ db }: { db: Pick<Database, 'tenant'> }) {
  return {
    count: (scope: Scope): Promise<number> => db.tenant(scope, count${type}),
  }
}
`,
    [`${folder}/rows.ts`]: `import type { Tx } from '#src/platform/db/database.ts'

// Replace this with the feature's own table.
export async function count${type}(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>('SELECT count(*) AS count FROM events')
  return row?.count ?? 0
}
`,
    [`${folder}/notes.ts`]: `// What the API reference says of each route. Events that the feature emits go beside it, as EVENTS.

import type { Note } from '#src/platform/http/openapi.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/${name}': {
    description: 'One or two sentences for callers: what the summary leaves open.',
    answers: { 200: { example: { count: 3 } } },
  },
}
`,
    [`${folder}/routes.ts`]: `import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import type { ${type} } from './${name}.ts'

export function ${name}Routes(${name}: ${type}): Route[] {
  return [
    endpoint(
      {
        method: 'GET',
        path: '/v1/${name}',
        operationId: 'count${type}',
        sdk: { none: 'Name the method of the client libraries here, or say why they have none' },
        effect: 'read',
        kind: 'call',
        summary: 'How many there are',
        scope: 'admin',
        permission: 'claims.read',
        view: z.object({ count: z.number().int() }),
        status: [200],
      },
      async ({ caller }) => ({ count: await ${name}.count(caller) }),
    ),
  ]
}
`,
    [`test/${product}/${name}/${name}.test.ts`]: `import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { create${type} } from '#src/${product}/${name}/${name}.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

describe('${name}', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.close())

  it('counts nothing in a new account', async () => {
    const scope = await makeAccount(database)
    expect(await create${type}(database).count(scope)).toBe(0)
  })
})
`,
  }
}

function writeQueue(root: string, name: string): Written {
  if (!/^[a-z]+$/.test(name)) throw usageError('queue: NAME is one lower-case word.')
  const worker = `workers/${name}.ts`
  if (existsSync(join(root, worker))) throw new Error(`${worker} exists already.`)
  const catalogue = join(root, 'src/catalogue/queues.ts')
  const rows = readFileSync(catalogue, 'utf8').replace(
    '\n} as const satisfies',
    `\n${queueRow(name)}\n} as const satisfies`,
  )
  const procfile = join(root, 'Procfile')
  const lines = readFileSync(procfile, 'utf8').replace(/^clock:/m, `${name}: node ${worker}\nclock:`)
  write(root, worker, `import { runBackground } from '#src/start-background.ts'\n\nawait runBackground('${name}')\n`)
  writeFileSync(catalogue, rows)
  writeFileSync(procfile, lines)
  return {
    files: [worker, 'src/catalogue/queues.ts', 'Procfile'],
    remaining: [
      `the feature.ts that runs it: work: { ${name}: () => create...(p) }`,
      `compose.yaml: the process ${name}, and its name in INTERNAL_HOSTS`,
      `deploy/kubernetes/: ${name}.yaml, and its line in kustomization.yaml`,
      `deploy/kubernetes/network.yaml: ${name}, if its handler calls out`,
      `deploy/prometheus/prometheus.yaml: ${name}:9090`,
      `docs/operate: its row of Processes (deploy.md), the order of an upgrade (upgrade.md), the sum of connections (scale.md), its attempts (incidents.md)`,
      'UPDATE=1 npm test -- test/house/configuration.test.ts: the row of its concurrency in docs/operate/configuration.md',
      `docs/assurance/faults.md: the row of kill; faults/plan.ts: the steps at which its process dies`,
      `src/catalogue/log-fields.ts: the ids of its payload`,
    ],
  }
}

function queueRow(name: string): string {
  return `  ${name}: {
    payload: z.strictObject({ ${name}Id: z.string() }),
    // 2 s doubling to 5 min: ten attempts outlast a dependency that is away for ten minutes.
    maxAttempts: 10,
    concurrency: 4,
    batchSize: 1,
    laneCap: 100_000,
    retryBaseMs: 2_000,
    retryCapMs: 300_000,
  },`
}

function write(root: string, file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text, { flag: 'wx' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await exitCodeOf('new', async () => {
    const words = process.argv.slice(2)
    if (words.includes('--help')) {
      process.stdout.write(USAGE)
      return 0
    }
    const { files, remaining } = writeNew(resolve(import.meta.dirname, '..'), words)
    process.stdout.write(`Written:\n${lines(files)}Remaining:\n${lines(remaining)}Then: npm run format, npm test.\n`)
    return 0
  })
}

function lines(entries: readonly string[]): string {
  return entries.map((entry) => `  ${entry}\n`).join('')
}
