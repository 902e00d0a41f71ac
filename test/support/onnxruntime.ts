// The optional package that accelerates attribution. Tests that need it are skipped where it is not installed.

import { createRequire } from 'node:module'

export const HAS_ONNXRUNTIME = isInstalled()

/** For titles of tests that are skipped without it. */
export const ONNXRUNTIME_NOTE = HAS_ONNXRUNTIME ? '' : ' (skipped: onnxruntime-node is not installed)'

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('onnxruntime-node')
    return true
  } catch {
    return false
  }
}

/** Fails like the import of a package that is not there. */
export const missingPackage = async (name: string): Promise<never> => {
  throw Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' })
}
