// `npm run clients`: writes what the client libraries have in common with the routes of the service.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeOutputs } from './outputs.ts'

const ROOT = join(import.meta.dirname, '../..')

for (const [path, text] of Object.entries(await writeOutputs())) {
  const file = join(ROOT, path)
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before === text) continue
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  process.stdout.write(`${path}\n`)
}
