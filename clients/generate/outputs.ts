// All files that `npm run clients` writes.

import { EXCEPTIONS } from '../exceptions.ts'
import { readDocument } from './document.ts'
import { writeMcp } from './mcp.ts'
import { readApi } from './operations.ts'
import { writePython } from './python.ts'
import { writeTypeScript } from './typescript.ts'

/** Texts by their path from the root of the repository. */
export async function writeOutputs(): Promise<Record<string, string>> {
  const api = readApi(await readDocument(), EXCEPTIONS)
  return { ...writeTypeScript(api), ...writePython(api), ...writeMcp(api) }
}
