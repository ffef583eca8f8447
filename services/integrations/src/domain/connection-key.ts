/** Names one connection of one company. */
export interface ConnectionKey {
  companyId: string;
  connectionId: string;
}
