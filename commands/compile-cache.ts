// Compiles what all processes load, once, into node's compile cache. Processes that start together with a cold cache
// would each compile it, and each write thousands of files when it ends, over those of the others: replacing a file by
// renaming waits for the disk on ext4, and `npm start` took half a minute to end.

import { flushCompileCache, getCompileCacheDir } from 'node:module'

/** Does nothing where NODE_COMPILE_CACHE is not set, and little when nothing has changed since the last time. */
export async function fillCompileCache(): Promise<void> {
  if (getCompileCacheDir() === undefined) return
  await Promise.all([import('#src/start-background.ts'), import('#src/start-web.ts')])
  flushCompileCache()
}

if (import.meta.main) {
  await fillCompileCache()
  process.exit(0)
}
