// I1 and I4 for people: a mail is sent at least once and its link signs in; an export ends in exactly one archive.

import type { Finding } from './check.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'

export function checkPeople(evidence: Evidence): Finding[] {
  return [
    ...checkMails(evidence).map((what): Finding => ({ invariant: 'I4', what })),
    ...checkExports(evidence).map((what): Finding => ({ invariant: 'I1', what })),
  ]
}

function checkMails({ mails, mailed, visited }: Evidence): string[] {
  const taken = new Set(mailed.map(({ mailId }) => mailId))
  const wrong: string[] = []
  for (const { id, status } of mails) {
    if (status === 'sent' && !taken.has(id)) wrong.push(`the mail ${id} is sent, and the mail server never took it`)
    // Dropped: a later request replaced its link.
    if (status !== 'sent' && status !== 'dropped') wrong.push(`the mail ${id} is ${status}`)
  }
  const known = new Set(mails.map(({ id }) => id))
  for (const mailId of taken) if (!known.has(mailId)) wrong.push(`the mail ${mailId} was sent without a row`)
  for (const { email, isSignedIn } of visited) if (!isSignedIn) wrong.push(`${email} got no link that signs in`)
  return wrong
}

function checkExports({ exports, imports, visited }: Evidence): string[] {
  const wrong: string[] = []
  for (const { email, isSignedIn, exportId, sha256 } of visited) {
    if (!isSignedIn) continue
    const [row] = exports.filter(({ id }) => id === exportId)
    if (exportId === null) wrong.push(`the export that ${email} requested was not accepted`)
    else if (row === undefined) wrong.push(`lost: the export ${exportId} was answered and is not there`)
    else if (row.state !== 'ready') wrong.push(`the export ${exportId} is ${row.state}`)
    else if (sha256 === null) wrong.push(`the archive of ${exportId} could not be downloaded`)
    else if (sha256 !== row.sha256) wrong.push(`the archive of ${exportId} is another one than its row says`)
  }
  wrong.push(...checkImports({ imports, visited }))
  for (const [scope, own] of groupBy(exports, (row) => row.scope)) {
    if (own.length > 1)
      wrong.push(`one request of ${scope} made ${own.length} exports: ${own.map(({ id }) => id).join(' ')}`)
  }
  return wrong
}

function checkImports({ imports, visited }: Pick<Evidence, 'imports' | 'visited'>): string[] {
  const wrong: string[] = []
  for (const { email, isSignedIn, importId } of visited) {
    if (!isSignedIn) continue
    const row = imports.find(({ id }) => id === importId)
    if (importId === null) wrong.push(`the exclusion list that ${email} uploaded was not accepted`)
    else if (row === undefined) wrong.push(`lost: the import ${importId} was answered and is not there`)
    else if (row.status !== 'succeeded') wrong.push(`the import ${importId} is ${row.status}`)
    else if (!row.isCurrent) wrong.push(`the import ${importId} succeeded and is not in force`)
  }
  for (const [scope, own] of groupBy(imports, (row) => row.scope)) {
    if (own.length > 1)
      wrong.push(`one upload of ${scope} made ${own.length} imports: ${own.map(({ id }) => id).join(' ')}`)
  }
  return wrong
}
