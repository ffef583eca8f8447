/** Identifies a connection of a company. */
export interface ConnectionKey {
  companyId: string;
  connectionId: string;
}
