declare const brand: unique symbol;

/** A value of type T that only its maker may call a B: an order's id is no partner's id, cents are no count. */
export type Branded<T, B extends string> = T & { readonly [brand]: B };

/** The id of a B, a UUIDv7 in text. */
export type Id<B extends string> = Branded<string, B>;

export type PartnerId = Id<"partner">;
export type ProductId = Id<"product">;
export type OrderId = Id<"order">;
export type OrderLineId = Id<"order_line">;
export type OrderItemId = Id<"order_item">;
export type EsimId = Id<"esim">;
export type ActivationId = Id<"activation">;
export type PassportId = Id<"passport">;
export type WebhookId = Id<"webhook">;
export type DeliveryId = Id<"delivery">;
export type AlertId = Id<"alert">;
export type AlertTargetId = Id<"alert_target">;
export type UserId = Id<"user">;
export type FactorId = Id<"factor">;
export type InvitationId = Id<"invitation">;
export type SessionId = Id<"session">;
export type TopupId = Id<"topup">;
export type TravelerMailId = Id<"traveler_mail">;

/** Integer minor units (cents) of some currency. */
export type MinorUnits = Branded<number, "minor_units">;
/** What supply costs: an integer of 1/10,000 of some currency, as exact as providers are. */
export type Cost = Branded<number, "cost">;
