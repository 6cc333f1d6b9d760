/** Limits of a response, which the service sets. */
export type SamlLimits = {
  /** Tolerance for the clock of the provider. */
  clockSkewSecondsMax: number
  /** Size of the decoded response. */
  samlResponseBytesMax: number
  /** Elements of a signed part, which the signature library reads slowly. */
  samlSignedElementsMax: number
  /** Attributes of all elements of a signed part, without namespace declarations. */
  samlSignedAttributesMax: number
  /** Length of the name of a user. */
  subjectCharactersMax: number
}
