import { urn } from './message.ts'

/** Returns a list response; `startIndex` counts from one (RFC 7644 §3.4.2). */
export function listResponse(resources: object[], totalResults = resources.length, startIndex = 1) {
  return { schemas: [urn.list], totalResults, startIndex, itemsPerPage: resources.length, Resources: resources }
}

type More = {
  type?: string
  mutability?: 'readWrite' | 'readOnly' | 'immutable'
  returned?: 'default' | 'always'
  referenceTypes?: readonly string[]
  multiValued?: boolean
  required?: boolean
  caseExact?: boolean
  uniqueness?: string
  canonicalValues?: readonly string[]
}

/** Describes an attribute of a schema (RFC 7643 §7). */
export function attribute(name: string, description: string, more: More = {}) {
  const { type = 'string', multiValued = false, required = false, caseExact = false, uniqueness = 'none' } = more
  const { canonicalValues, referenceTypes, mutability = 'readWrite', returned = 'default' } = more
  const isText = type === 'string' || type === 'reference'
  return {
    name,
    type,
    description,
    multiValued,
    required,
    ...(canonicalValues && { canonicalValues }),
    ...(isText && { caseExact }),
    mutability,
    returned,
    ...(referenceTypes && { referenceTypes }),
    ...(isText && { uniqueness }),
  }
}

/** Describes an attribute with sub-attributes. */
export function complex(name: string, description: string, more: More, subAttributes: object[]) {
  return { ...attribute(name, description, { ...more, type: 'complex' }), subAttributes }
}
