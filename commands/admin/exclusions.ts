// `admin -- exclusion-list`: the lists of the operator, which count for accounts without a list of their own.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { FILE_KINDS, LISTS } from '#src/authorize/exclusions/formats.ts'
import { oneOf, required, type Values } from './arguments.ts'
import type { Act } from './commands.ts'

export function readExclusionImport(file: string | undefined, values: Values): Act {
  const path = resolve(required('FILE', file))
  const list = oneOf('--list', required('--list', values.list), LISTS)
  const kind = values.kind === undefined ? undefined : oneOf('--kind', values.kind, FILE_KINDS)
  const { force: isForced } = values
  return async ({ services, log }) => {
    if (!existsSync(path)) throw new Error(`There is no file ${path}.`)
    const { operatorImports } = services.authorize.exclusions
    const ended = await operatorImports.importFile(path, { list, kind, isForced })
    const { id, rows, listDate, failureCode, failureDetail } = ended
    const sha256 = ended.sha256.toString('hex')
    log('exclusion-list import', { list, import: id, sha256, isForced, failed: failureCode })
    if (failureCode !== null) throw new Error(`The list in force stays. ${failureCode}: ${failureDetail}`)
    return { id, list, rows, listDate, sha256 }
  }
}
