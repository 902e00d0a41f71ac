// The generated files of the library for Python.

import { EXCEPTIONS } from '../exceptions.ts'
import type { Api, Operation } from './operations.ts'
import { FLAVOURS, pythonMethods } from './python-methods.ts'
import { createPythonTypes } from './python-types.ts'

const FOLDER = 'clients/python/src/countersign'

/** Texts by their path from the root of the repository. */
export function writePython(api: Api): Record<string, string> {
  const operations = pythonOperations(api)
  const types = createPythonTypes(api, operations)
  const modules = Object.entries(types.modules()).map(([name, text]) => [`${FOLDER}/${name}.py`, text])
  const methods = FLAVOURS.map((flavour) => [
    `${FOLDER}/_${flavour.prefix.toLowerCase()}${flavour.isAsync ? '_' : ''}methods.py`,
    pythonMethods(api, operations, types, flavour),
  ])
  return Object.fromEntries([...modules, ...methods])
}

/** Signing in and passkeys belong to browsers. */
export function pythonOperations({ operations }: Api): readonly Operation[] {
  return operations.filter(({ group: [first = ''] }) => !EXCEPTIONS.browserGroups.includes(first))
}
