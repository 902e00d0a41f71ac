// `npm run admin -- login-link EMAIL`: a link that signs a user in, printed for the operator to pass on.

import { usageError } from '../sentence.ts'
import type { Command } from './commands.ts'

const UNKNOWN_PLACE =
  'Put the address of the service in its front: BASE_URL does not say it, and `npm start` has not run on this data.'

export function printLoginLink(email: string | undefined, accountId: string | undefined): Command['act'] {
  if (email === undefined) throw usageError('EMAIL is missing.')
  return async ({ services, address, log }) => {
    const { link, ...printed } = await services.account.printLink(email, {
      accountId,
      ...(address !== undefined && { at: address }),
    })
    log('login-link', { account: printed.account, user: printed.user })
    const place = address === undefined ? ` ${UNKNOWN_PLACE}` : ''
    return { link, ...printed, note: `It works once, with full access.${place}` }
  }
}
