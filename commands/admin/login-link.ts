// `npm run admin -- login-link EMAIL`: a link that signs a user in, printed for the operator to pass on.

import { usageError } from '../sentence.ts'
import type { Command } from './commands.ts'

export function printLoginLink(email: string | undefined, accountId: string | undefined): Command['act'] {
  if (email === undefined) throw usageError('EMAIL is missing.')
  return async ({ services, log }) => {
    const { link, ...printed } = await services.account.printLink(email, { accountId })
    log('login-link', { account: printed.account, user: printed.user })
    return { link, ...printed, note: 'It works once, with full access.' }
  }
}
