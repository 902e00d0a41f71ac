// The generated files of the library for TypeScript.

import type { Api } from './operations.ts'
import { type ShapeTable, tableOf } from './renaming.ts'
import { methodsText } from './typescript-methods.ts'
import { createTypeNames, HEADER, quote } from './typescript-types.ts'

const FOLDER = 'clients/typescript/src/generated'

/** Texts by their path from the root of the repository. */
export function writeTypeScript(api: Api): Record<string, string> {
  const names = createTypeNames(api)
  const { table, entryOf } = tableOf(api)
  return {
    [`${FOLDER}/types.ts`]: names.declarations(),
    [`${FOLDER}/methods.ts`]: methodsText(api, names, entryOf),
    [`${FOLDER}/shapes.ts`]: shapesText(table),
  }
}

function shapesText(table: ShapeTable): string {
  const entries = Object.entries(table)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, members]) => {
      const inner = Object.entries(members).map(([member, entry]) => `${member}: ${quote(entry)}`)
      return `  ${/^\w+$/.test(name) ? name : quote(name)}: { ${inner.join(', ')} },\n`
    })
  const about =
    '/** By shape: the members whose names are renamed too, and the shape of each. What is not listed stays as it is. */\n'
  const type = 'Readonly<Record<string, Readonly<Record<string, string>>>>'
  return `${HEADER}\n${about}export const SHAPES: ${type} = {\n${entries.join('')}}\n`
}
