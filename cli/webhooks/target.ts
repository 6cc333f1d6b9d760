import { isUuid } from '@countersign/protocol/values'

export const idHelp = 'ID of an app, or of a webhook of the service'

/** Checks whether an ID is that of a webhook of the service. That of an app has another form. */
export function isOfService(id: string): boolean {
  return isUuid(id.toLowerCase())
}
