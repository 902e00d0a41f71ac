// What a digital source type means, by the rubrics of the C2PA conformance programme. It depends on the action:
// creating a picture, or editing it.

/**
 * `generated`: by a trained model. `partly_generated`: with parts of one. `possibly_generated`: the type leaves it
 * open. `captured`: by a camera, also when one computed the picture. `stitched`: of several captures. `digitised`: of
 * film or print. `screen`: of a screen. `created`: drawn or computed without a trained model. `blank`: started from an
 * empty picture. `other`: none of these.
 */
export type SourceKind =
  | 'generated'
  | 'partly_generated'
  | 'possibly_generated'
  | 'captured'
  | 'stitched'
  | 'digitised'
  | 'screen'
  | 'created'
  | 'blank'
  | 'other'

const BEGINNINGS: ReadonlyMap<string, SourceKind> = new Map([
  ['trainedAlgorithmicMedia', 'generated'],
  ['trainedAlgorithmicData', 'generated'],
  ['compositeWithTrainedAlgorithmicMedia', 'partly_generated'],
  ['compositeSynthetic', 'partly_generated'],
  ['composite', 'possibly_generated'],
  ['digitalCapture', 'captured'],
  ['computationalCapture', 'captured'],
  ['compositeCapture', 'stitched'],
  ['negativeFilm', 'digitised'],
  ['positiveFilm', 'digitised'],
  ['print', 'digitised'],
  ['screenCapture', 'screen'],
  ['digitalCreation', 'created'],
  ['digitalArt', 'created'],
  ['algorithmicMedia', 'created'],
  ['dataDrivenMedia', 'created'],
  ['softwareImage', 'created'],
  ['virtualRecording', 'created'],
  ['empty', 'blank'],
])

const CHANGES: ReadonlyMap<string, SourceKind> = new Map([
  ['trainedAlgorithmicMedia', 'partly_generated'],
  ['trainedAlgorithmicData', 'partly_generated'],
  ['compositeWithTrainedAlgorithmicMedia', 'partly_generated'],
  ['compositeSynthetic', 'partly_generated'],
  ['digitalArt', 'possibly_generated'],
  ['composite', 'possibly_generated'],
])

const CANONICAL: ReadonlyMap<string, string> = new Map(
  [...BEGINNINGS.keys(), ...CHANGES.keys()].map((name) => [name.toLowerCase(), name]),
)

/**
 * The name that identifies a type. Programs write it as a URL (http or https, with or without a slash at its end, a query or
 * the name as fragment), as the code `digsrctype:name`, or alone.
 */
export function nameOfType(type: string): string {
  const [, path = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(type) ?? []
  const name = lastOf(path)
  const found = name.toLowerCase() === VOCABULARY ? lastOf(fragment) : name
  return CANONICAL.get(found.toLowerCase()) ?? found
}

const VOCABULARY = 'digitalsourcetype'

function lastOf(path: string): string {
  const parts = path.split(/[/:]/)
  return parts.findLast((part) => part.trim() !== '')?.trim() ?? ''
}

/** @param action the C2PA action that names the type; null where the type is of the picture as a whole. */
export function kindOfSource(type: string, action: string | null): SourceKind {
  const isBeginning = action === null || action === 'c2pa.created'
  return (isBeginning ? BEGINNINGS : CHANGES).get(nameOfType(type)) ?? 'other'
}

/** Whether it declares that a trained model made the picture or a part of it. */
export function isGenerated(kind: SourceKind): boolean {
  return kind === 'generated' || kind === 'partly_generated'
}
